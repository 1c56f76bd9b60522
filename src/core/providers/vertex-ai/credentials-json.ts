import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { externalAccountSource } from './external-account.ts';
import { parseObject, tokenEndpoint, callForJson, formRequest, readMintedToken, SCOPE } from './google-oauth.ts';
import { impersonatedAccountSource } from './impersonation.ts';
import {
  textOf,
  isUnusable,
  keyOf,
  NOT_LISTED,
  type CredentialFields,
  type ReadTokenSource,
  type SourceContext,
  type TokenSource,
  type Refuse,
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

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Google's maximum. */
const ASSERTION_LIFE_SECONDS = 3_600;

/** The data to sign an assertion. Contains the private key: never print it. */
interface Signer {
  readonly clientEmail: string;
  readonly privateKeyId: string | undefined;
  readonly privateKey: KeyObject;
  readonly audience: string;
}

/** docs/protocols/vertex-ai.md#service-account-key (RFC 7523). An invalid key fails the load, not the first request. */
export function serviceAccountSource(
  fields: CredentialFields,
  { setup, refuse }: SourceContext,
): TokenSource | undefined {
  if (isUnusable(fields, refuse)) return undefined;
  const clientEmail = textOf(fields['client_email']);
  if (clientEmail === undefined) return refuse('client_email', 'client_email is missing');
  const privateKey = readPrivateKey(fields['private_key'], refuse);
  const endpoint = tokenEndpoint(fields['token_uri'], setup.tokenUris);
  if (!endpoint) refuse('token_uri', `token_uri ${NOT_LISTED}`);
  if (!privateKey || !endpoint) return undefined;
  const privateKeyId = textOf(fields['private_key_id']);
  const signer: Signer = { clientEmail, privateKeyId, privateKey, audience: endpoint.url };
  return {
    key: keyOf('service_account', clientEmail, privateKeyId ?? '', endpoint.url, fingerprint(privateKey)),
    projectId: textOf(fields['project_id']),
    quotaProjectId: textOf(fields['quota_project_id']),
    async mint() {
      const assertion = signAssertion(signer, setup.clock.wall());
      const who = 'the token endpoint';
      const request = formRequest(endpoint, { grant_type: GRANT_TYPE, assertion });
      return readMintedToken(await callForJson({ who, request, secrets: [assertion] }, setup), who);
    },
  };
}

function readPrivateKey(value: unknown, refuse: Refuse): KeyObject | undefined {
  if (typeof value !== 'string' || value === '') return refuse('private_key', 'private_key is missing');
  try {
    // Environment variables and YAML often contain line breaks as a literal `\n`.
    const key = createPrivateKey(value.replaceAll('\\n', '\n'));
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // OpenSSL's message ("unsupported decoder") is not helpful.
  }
  return refuse('private_key', 'private_key is not an RSA private key in PEM form');
}

/** Distinguishes two keys of one account, also where the file has no private_key_id. */
const fingerprint = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');

/** Signs an assertion without `sub`, which is for domain-wide delegation only. */
function signAssertion({ clientEmail, privateKeyId, privateKey, audience }: Signer, wallMs: number): string {
  const issuedAt = Math.floor(wallMs / 1_000);
  const header = { alg: 'RS256', typ: 'JWT', ...(privateKeyId && { kid: privateKeyId }) };
  const claims = {
    iss: clientEmail,
    scope: SCOPE,
    aud: audience,
    iat: issuedAt,
    exp: issuedAt + ASSERTION_LIFE_SECONDS,
  };
  const signed = `${base64url(header)}.${base64url(claims)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
