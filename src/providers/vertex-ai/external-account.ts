import { stsEndpoint } from './endpoints.ts';
import { callForJson, formRequest, readAccessToken, readMintedToken, SCOPE } from './google-oauth.ts';
import { impersonate, impersonationKey, readImpersonation, type Impersonation } from './impersonation.ts';
import { subjectTokenFile } from './subject-token.ts';
import {
  isUnusable,
  keyOf,
  NOT_LISTED,
  textOf,
  type CredentialFields,
  type SourceContext,
  type TokenSource,
} from './token-source.ts';
import { isObject } from '../../formats/json/object.ts';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const WHO = 'the security token service';

/** Fields that change the requested token: ignoring them would request a different one. */
const UNSUPPORTED = ['client_id', 'client_secret', 'workforce_pool_user_project'];

/**
 * Workload identity federation: exchanges a token of another issuer for one of Google's (RFC 8693,
 * docs/protocols/vertex-ai.md#workload-identity-federation).
 */
export function externalAccountSource(fields: CredentialFields, context: SourceContext): TokenSource | undefined {
  const { setup, refuse } = context;
  if (isUnusable(fields, refuse)) return undefined;
  const unsupported = UNSUPPORTED.find((name) => fields[name] !== undefined);
  if (unsupported !== undefined) return refuse(unsupported, `${unsupported} is not supported`);
  const audience = textOf(fields['audience']);
  if (audience === undefined) return refuse('audience', 'audience is missing');
  const subjectTokenType = textOf(fields['subject_token_type']);
  if (subjectTokenType === undefined) return refuse('subject_token_type', 'subject_token_type is missing');
  const endpoint = stsEndpoint(fields['token_url'], setup.tokenUris);
  if (!endpoint) return refuse('token_url', `token_url ${NOT_LISTED}`);
  const subject = subjectTokenFile(fields['credential_source'], refuse);
  const account = readAccount(fields, context);
  if (!subject || !account) return undefined;
  const { impersonation } = account;

  /** Sends the subject token to the endpoint only. */
  const federate = async () => {
    const subjectToken = await subject.read();
    const request = formRequest(endpoint, {
      grant_type: GRANT_TYPE,
      audience,
      scope: SCOPE,
      requested_token_type: ACCESS_TOKEN,
      subject_token: subjectToken,
      subject_token_type: subjectTokenType,
    });
    return callForJson({ who: WHO, request, secrets: [subjectToken] }, setup);
  };
  return {
    key: keyOf(
      'external_account',
      audience,
      subjectTokenType,
      endpoint.url,
      JSON.stringify(fields['credential_source']),
      impersonation ? impersonationKey(impersonation) : '',
    ),
    // The audience names the project of the pool, which may differ from the project of the models.
    projectId: undefined,
    quotaProjectId: textOf(fields['quota_project_id']),
    async mint() {
      const json = await federate();
      if (!impersonation) return readMintedToken(json, WHO);
      return impersonate(impersonation, readAccessToken(json, WHO), setup);
    },
    async check() {
      await subject.read();
    },
  };
}

/** The service account to impersonate, if any; undefined when it was refused. */
function readAccount(
  fields: CredentialFields,
  context: SourceContext,
): { impersonation: Impersonation | undefined } | undefined {
  const { service_account_impersonation_url: url, service_account_impersonation: options = {} } = fields;
  if (url === undefined) return { impersonation: undefined };
  if (!isObject(options)) {
    return context.refuse('service_account_impersonation', 'service_account_impersonation is not an object');
  }
  const { token_lifetime_seconds: lifetimeSeconds } = options;
  const impersonation = readImpersonation({ url, lifetimeSeconds }, context);
  return impersonation && { impersonation };
}
