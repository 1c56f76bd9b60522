import { tokenEndpoint } from './endpoints.ts';
import { callForJson, formRequest, readMintedToken } from './google-oauth.ts';
import {
  isUnusable,
  keyOf,
  NOT_LISTED,
  textOf,
  type CredentialFields,
  type SourceContext,
  type TokenSource,
} from './token-source.ts';

const REQUIRED = ['client_id', 'client_secret', 'refresh_token'] as const;

/**
 * Tokens for a user account, from the refresh token that `gcloud auth application-default login` stores
 * (docs/protocols/vertex-ai.md#authorized-user).
 */
export function authorizedUserSource(
  fields: CredentialFields,
  { setup, refuse }: SourceContext,
): TokenSource | undefined {
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
