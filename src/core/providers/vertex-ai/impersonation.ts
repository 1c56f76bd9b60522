import type { MintedToken } from '../../memory/ports.ts';
import { impersonationEndpoint, callForJson, isBearerToken, SCOPE, TokenFault, type Endpoint } from './google-oauth.ts';
import {
  NOT_LISTED,
  isUnusable,
  keyOf,
  textOf,
  type SourceContext,
  type TokenSetup,
  type CredentialFields,
  type ReadTokenSource,
  type TokenSource,
} from './token-source.ts';
import { isObject } from '../../../formats/json/object.ts';

export interface Impersonation {
  readonly endpoint: Endpoint;
  readonly lifetimeSeconds: number;
  /** The chain of accounts before it, each of which may impersonate the next. */
  readonly delegates: readonly string[];
}

const WHO = 'the impersonation endpoint';
const DEFAULT_LIFETIME_SECONDS = 3_600;
/** Google's limits (an hour, unless an organisation policy extends it to twelve). */
const LIFETIME_SECONDS = { least: 600, most: 43_200 };

export function readImpersonation(
  {
    url,
    lifetimeSeconds = DEFAULT_LIFETIME_SECONDS,
    delegates = [],
  }: { readonly url: unknown; readonly lifetimeSeconds?: unknown; readonly delegates?: unknown },
  { setup, refuse }: SourceContext,
): Impersonation | undefined {
  const endpoint = impersonationEndpoint(url, setup.tokenUris);
  const field = 'service_account_impersonation_url';
  if (!endpoint) return refuse(field, `${field} ${url === undefined ? 'is missing' : NOT_LISTED}`);
  const { least, most } = LIFETIME_SECONDS;
  if (!isWholeNumber(lifetimeSeconds) || lifetimeSeconds < least || lifetimeSeconds > most) {
    const name = 'service_account_impersonation.token_lifetime_seconds';
    return refuse('service_account_impersonation', `${name} is not a whole number from ${least} to ${most}`);
  }
  if (!isTextList(delegates)) return refuse('delegates', 'delegates is not a list of service accounts');
  return { endpoint, lifetimeSeconds, delegates };
}

const isWholeNumber = (value: unknown): value is number => Number.isInteger(value);
const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');

export const impersonationKey = ({ endpoint, lifetimeSeconds, delegates }: Impersonation): string =>
  JSON.stringify([endpoint.url, lifetimeSeconds, delegates]);

/** Exchanges the token of an account that may impersonate the service account for a token of the latter. Throws TokenFault. */
export async function impersonate(
  { endpoint, lifetimeSeconds, delegates }: Impersonation,
  token: string,
  setup: TokenSetup,
): Promise<MintedToken> {
  const body = { scope: [SCOPE], lifetime: `${lifetimeSeconds}s`, ...(delegates.length > 0 && { delegates }) };
  const json = await callForJson(
    {
      who: WHO,
      request: {
        url: endpoint.url,
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
        allowInsecure: endpoint.listed,
      },
      secrets: [token],
    },
    setup,
  );
  const { accessToken: value, expireTime } = json;
  if (!isBearerToken(value)) throw new TokenFault(`${WHO} answered without a usable accessToken`);
  const expiresAt = typeof expireTime === 'string' ? Date.parse(expireTime) : Number.NaN;
  if (Number.isNaN(expiresAt)) throw new TokenFault(`${WHO} did not say when the token ends (expireTime)`);
  const expiresInMs = expiresAt - setup.clock.wall();
  if (expiresInMs <= 0) {
    throw new TokenFault(`${WHO} gave a token that has ended by this machine's clock: is the clock right?`);
  }
  return { value, expiresInMs };
}

/** The file of `gcloud auth application-default login --impersonate-service-account`. */
export function impersonatedAccountSource(
  fields: CredentialFields,
  context: SourceContext,
  readSource: ReadTokenSource,
): TokenSource | undefined {
  const { setup, refuse } = context;
  if (isUnusable(fields, refuse)) return undefined;
  const inner = fields['source_credentials'];
  if (!isObject(inner)) return refuse('source_credentials', 'source_credentials is missing');
  if (inner['type'] === 'impersonated_service_account') {
    return refuse('source_credentials', 'source_credentials is itself an impersonation: use delegates for a chain');
  }
  const { service_account_impersonation_url: url, delegates } = fields;
  const impersonation = readImpersonation({ url, delegates }, context);
  const source = readSource(inner, {
    setup,
    refuse: (_, message) => refuse('source_credentials', `source_credentials: ${message}`),
  });
  if (!impersonation || !source) return undefined;
  return {
    key: keyOf('impersonated_service_account', source.key, impersonationKey(impersonation)),
    // The source's projects may differ from the project of the models.
    projectId: undefined,
    quotaProjectId: textOf(fields['quota_project_id']),
    // The source's token is used for this call only, so it is not cached.
    mint: async () => impersonate(impersonation, (await source.mint()).value, setup),
    ...(source.check && { check: () => source.check!() }),
  };
}
