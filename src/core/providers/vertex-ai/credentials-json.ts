import { externalAccountSource } from './external-account.ts';
import { parseObject, tokenEndpoint, callForJson, formRequest, readMintedToken } from './google-oauth.ts';
import { impersonatedAccountSource } from './impersonation.ts';
import { serviceAccountSource } from './service-account.ts';
import {
  textOf,
  isUnusable,
  keyOf,
  NOT_LISTED,
  type CredentialFields,
  type ReadTokenSource,
  type SourceContext,
  type TokenSource,
} from './token-source.ts';

const READERS: ReadonlyMap<string, ReadTokenSource> = new Map<string, ReadTokenSource>([
  ['service_account', serviceAccountSource],
  ['authorized_user', authorizedUserSource],
  ['external_account', externalAccountSource],
  ['impersonated_service_account', (fields, context) => impersonatedAccountSource(fields, context, readFields)],
]);

/** Reads a Google credentials JSON of any type. Messages never quote it, nor the error of JSON.parse, which contains a part of it. */
export function readCredentialsJson(text: string, context: SourceContext): TokenSource | undefined {
  const fields = parseObject(text);
  if (fields) return readFields(fields, context);
  return context.refuse(undefined, 'is not a JSON object in the form of Google credentials');
}

function readFields(fields: CredentialFields, context: SourceContext): TokenSource | undefined {
  const type = textOf(fields['type']);
  const read = type === undefined ? undefined : READERS.get(type);
  if (read) return read(fields, context);
  const known = [...READERS.keys()].join(', ');
  // Not even the type is quoted: another kind of file may have a secret there.
  const problem = type === undefined ? 'has no type' : 'has a type that is not supported';
  return context.refuse('type', `${problem}; supported are ${known}`);
}

const REQUIRED = ['client_id', 'client_secret', 'refresh_token'] as const;

/** With the refresh token that `gcloud auth` stores (docs/protocols/vertex-ai.md#authorized-user). */
function authorizedUserSource(fields: CredentialFields, { setup, refuse }: SourceContext): TokenSource | undefined {
  if (isUnusable(fields, refuse)) return undefined;
  const [clientId, clientSecret, refreshToken] = REQUIRED.map((name) => textOf(fields[name]));
  if (clientId === undefined || clientSecret === undefined || refreshToken === undefined) {
    const missing = REQUIRED.find((name) => textOf(fields[name]) === undefined);
    return refuse(missing, `${missing} is missing`);
  }
  const endpoint = tokenEndpoint(fields['token_uri'], setup.tokenUris);
  if (!endpoint) return refuse('token_uri', `token_uri ${NOT_LISTED}`);
  const quotaProjectId = textOf(fields['quota_project_id']);
  return {
    key: keyOf('authorized_user', clientId, endpoint.url, clientSecret, refreshToken),
    projectId: quotaProjectId,
    quotaProjectId,
    async mint() {
      const who = 'the token endpoint';
      const request = formRequest(endpoint, {
        grant_type: 'refresh_token',
        client_id: clientId,
        client_secret: clientSecret,
        refresh_token: refreshToken,
      });
      const secrets = [clientSecret, refreshToken];
      return readMintedToken(await callForJson({ who, request, secrets }, setup), who);
    },
  };
}
