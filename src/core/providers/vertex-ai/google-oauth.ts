import { GatewayError } from '../../../plugin/index.ts';
import type { MintedToken } from '../../memory/ports.ts';
import type { SmallReply, SmallRequest } from '../../upstream/types.ts';
import type { ProviderSetup } from '../definition.ts';
import { parseJson, isObject } from '../../../formats/json/object.ts';

// These exchanges are implemented here because google-auth-library has its own HTTP stack, which would bypass the egress guard,
// the pools and the deadlines of src/core/upstream, and about 20 transitive packages, for a few small calls.

const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';
export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TIMEOUT_MS = 10_000;
const MAX_REASON = 300;

/** The reason why there is no token. The message may be shown: it contains no assertion, key or token. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
}

export interface TokenCall {
  /** The endpoint's name in errors: `the token endpoint`. */
  readonly who: string;
  readonly request: Omit<SmallRequest, 'timeoutMs'>;
  /** Secrets in the request, which are removed from error messages that repeat them. */
  readonly secrets: readonly string[];
}

/** Makes the call and returns the JSON object of a 2xx. Throws TokenFault. */
export const callForJson = async (
  call: TokenCall,
  setup: Pick<ProviderSetup, 'upstreamExchange'>,
): Promise<Record<string, unknown>> => readJson(await exchange(call, setup), call);

/** Makes the call. Throws TokenFault where there is no reply. */
export function exchange(
  { who, request }: TokenCall,
  { upstreamExchange }: Pick<ProviderSetup, 'upstreamExchange'>,
): Promise<SmallReply> {
  return upstreamExchange({ ...request, timeoutMs: TIMEOUT_MS }).catch((error: unknown) => {
    // Only messages of the gateway's own errors are known to be safe to show.
    const reason = error instanceof GatewayError ? error.message : `the call of ${who} failed`;
    throw new TokenFault(reason, { cause: error });
  });
}

export function readJson(reply: SmallReply, { who, secrets }: TokenCall): Record<string, unknown> {
  const json = parseObject(reply.text);
  if (reply.status < 200 || reply.status > 299) {
    const reason = reasonOf(json);
    throw new TokenFault(`${who} answered ${reply.status}${reason && `: ${presentable(reason, secrets)}`}`);
  }
  if (!json) throw new TokenFault(`${who} answered ${reply.status} without a JSON object`);
  return json;
}

export const formRequest = (
  endpoint: { readonly url: string; readonly listed: boolean },
  fields: Readonly<Record<string, string>>,
): TokenCall['request'] => ({
  url: endpoint.url,
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
  body: new URLSearchParams(fields).toString(),
  allowInsecure: endpoint.listed,
});

/** The reply of a token endpoint (RFC 6749 section 5.1). */
export function readMintedToken(json: Readonly<Record<string, unknown>>, who: string): MintedToken {
  const value = readAccessToken(json, who);
  // Some servers send the number as text.
  const { expires_in: seconds } = json;
  const life = typeof seconds === 'string' ? Number(seconds) : seconds;
  if (typeof life !== 'number' || !Number.isFinite(life) || life <= 0) {
    throw new TokenFault(`${who} did not say how long the token lives (expires_in)`);
  }
  return { value, expiresInMs: life * 1_000 };
}

/** The access token only, for an intermediate step that uses it immediately. */
export function readAccessToken(json: Readonly<Record<string, unknown>>, who: string): string {
  const { access_token: value, token_type: type } = json;
  if (!isBearerToken(value)) throw new TokenFault(`${who} answered without a usable access_token`);
  if (type !== undefined && !(typeof type === 'string' && type.toLowerCase() === 'bearer')) {
    throw new TokenFault(`${who} gave a token_type other than Bearer`);
  }
  return value;
}

/** RFC 6750 section 2.1: the characters of a bearer token. Other values must not become part of a header. */
export const isBearerToken = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9\-._~+/]+=*$/.test(value);

/** `invalid_grant: Invalid JWT Signature.` of OAuth, `PERMISSION_DENIED: …` of Google's APIs; `''` for neither. */
function reasonOf({ error, error_description: description }: Readonly<Record<string, unknown>> = {}): string {
  const isApiError = typeof error === 'object' && error !== null;
  const { status, message }: Record<string, unknown> = isApiError ? { ...error } : {};
  const words = isApiError ? [status, message] : [error, description];
  return words.filter((part) => typeof part === 'string' && part !== '').join(': ');
}

/** Text that looks like a credential: JWTs, Google's access and refresh tokens, and any text too long for a word. */
const LOOKS_SECRET = /eyJ[\w-]{8,}[\w.-]*|ya29\.[\w.-]+|1\/\/[\w-]{8,}|[A-Za-z0-9_.-]{80,}/g;

function presentable(text: string, secrets: readonly string[]): string {
  // An empty text is found between any two characters.
  const forms = secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, asInForm(secret)]);
  const shown = forms
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
    .replaceAll(LOOKS_SECRET, '[…]')
    .replaceAll(/\p{Cc}+/gu, ' ');
  return shown.slice(0, MAX_REASON);
}

const asInForm = (text: string): string => new URLSearchParams({ _: text }).toString().slice(2);

export function parseObject(text: string): Record<string, unknown> | undefined {
  const json = parseJson(text);
  return isObject(json) ? { ...json } : undefined;
}

export interface Endpoint {
  readonly url: string;
  /** The operator listed it, which also allows plain http and loopback there. */
  readonly listed: boolean;
}

/** Token endpoints that the operator allows besides Google's: `egress.token_uris` of server.yaml. */
type AllowedUris = ReadonlySet<string>;

// A replaced credentials file must not be able to send secrets and signed assertions to another host. So each address in such a
// file must be exactly Google's, or one that the operator has listed.

/** The address of the same endpoint in old key files. */
const OLD_TOKEN_URI = 'https://accounts.google.com/o/oauth2/token';

/** The token endpoint of service accounts and users. Default: Google's. */
export function tokenEndpoint(value: unknown, listed: AllowedUris): Endpoint | undefined {
  if (value === undefined || value === GOOGLE_TOKEN_URI || value === OLD_TOKEN_URI) {
    return { url: GOOGLE_TOKEN_URI, listed: false };
  }
  return listedEndpoint(value, listed);
}

/**
 * The host of a Google API: the global one, or a regional one (`sts.us-east1.rep.googleapis.com`, and the older form
 * `us-east1-sts.googleapis.com`). Only Google controls names under googleapis.com.
 */
const hostOf = (api: string): string =>
  `(?:${api}|${api}\\.[a-z0-9-]{1,40}\\.rep|[a-z0-9-]{1,40}-${api})\\.googleapis\\.com`;

const listedEndpoint = (value: unknown, listed: AllowedUris): Endpoint | undefined =>
  typeof value === 'string' && listed.has(value) ? { url: value, listed: true } : undefined;

const googleEndpoint =
  (form: RegExp) =>
  (value: unknown, listed: AllowedUris): Endpoint | undefined =>
    typeof value === 'string' && form.test(value) ? { url: value, listed: false } : listedEndpoint(value, listed);

/** The endpoint of the Security Token Service, which exchanges other issuers' tokens (RFC 8693). */
export const stsEndpoint = googleEndpoint(new RegExp(`^https://${hostOf('sts')}/v1/token$`));

/** The endpoint of the IAM Credentials API for one service account. */
export const impersonationEndpoint = googleEndpoint(
  new RegExp(
    `^https://${hostOf('iamcredentials')}/v1/projects/-/serviceAccounts/[A-Za-z0-9._@-]{1,200}:generateAccessToken$`,
  ),
);
