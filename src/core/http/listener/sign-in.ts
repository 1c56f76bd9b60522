import type { ClientError } from '../../../formats/client-error.ts';
import type { Format } from '../../../formats/format.ts';
import { openaiChat } from '../../../formats/openai-chat/index.ts';
import { GatewayError, type ErrorCode } from '../../../plugin/index.ts';

/** An endpoint of OAuth, or of the contract between Claude Code and gateways, that needs a store of users. */
interface SignInEndpoint {
  readonly method?: 'POST';
  readonly path: RegExp;
  readonly code: Extract<ErrorCode, 'not_found' | 'invalid_grant' | 'unauthorized_client'>;
  readonly message: string;
}

const USE_A_KEY = 'This gateway has no sign-in: send a gateway key as a bearer token or in x-api-key.';

/**
 * As the RFC and clients of each endpoint expect it (docs/protocols/claude-code.md#sign-in-policies-telemetry). The
 * first row that fits counts. A base URL with `/v1` puts it before the path.
 */
const ENDPOINTS: readonly SignInEndpoint[] = [
  // The one answer by which Claude Code forgets the sign-in of a gateway that was here before.
  { method: 'POST', path: /^(?:\/v1)?\/oauth\/token\/?$/i, code: 'invalid_grant', message: USE_A_KEY },
  // RFC 8628, section 3.2: errors are those of RFC 6749, section 5.2.
  {
    method: 'POST',
    path: /^(?:\/v1)?\/oauth\/device_authorization\/?$/i,
    code: 'unauthorized_client',
    message: USE_A_KEY,
  },
  { path: /^(?:\/v1|\/api)?\/oauth(?:\/|$)/i, code: 'not_found', message: USE_A_KEY },
  // RFC 8414, RFC 9728 and OpenID Connect Discovery; the identifier of a resource may stand behind the name.
  {
    path: /^\/\.well-known\/(?:oauth-authorization-server|oauth-protected-resource|openid-configuration)(?:\/|$)/i,
    code: 'not_found',
    message: USE_A_KEY,
  },
  { path: /^\/managed\/settings\/?$/i, code: 'not_found', message: 'This gateway has no managed settings.' },
];

export function signInRefusal(method: string, path: string): GatewayError | undefined {
  const endpoint = ENDPOINTS.find((one) => (one.method ?? method) === method && one.path.test(path));
  return endpoint && new GatewayError(endpoint.code, endpoint.message);
}

/** Errors in the shape of RFC 6749, section 5.2, which has no other fields and no quotes in the description. */
export const oauthErrors: Format = {
  ...openaiChat,
  encodeError: ({ status, code, message }: ClientError) => ({
    status,
    body: { error: code, error_description: message },
  }),
};
