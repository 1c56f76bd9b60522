import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { tokenEndpoint, callForJson, formRequest, readMintedToken, SCOPE } from './google-oauth.ts';
import {
  isUnusable,
  keyOf,
  NOT_LISTED,
  textOf,
  type CredentialFields,
  type Refuse,
  type SourceContext,
  type TokenSource,
} from './token-source.ts';

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
function fingerprint(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
}

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
