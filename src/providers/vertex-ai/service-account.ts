import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { ServiceAccountKey } from '../../../schemas/types.generated.ts';
import { Secret, type Report } from '../../plugin/index.ts';
import { GOOGLE_TOKEN_URI, SCOPE } from './google-oauth.ts';

/** A service-account key that has been checked. Holds the private key: never print it. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKeyId: string | undefined;
  readonly projectId: string | undefined;
  readonly privateKey: KeyObject;
  readonly tokenUri: string;
  /** The operator listed the token endpoint, which is what allows plain http and loopback there. */
  readonly listedTokenUri: boolean;
  /** Under which its tokens are kept. */
  readonly tokenKey: string;
}

/** The address old key files name for the same endpoint. */
const OLD_TOKEN_URI = 'https://accounts.google.com/o/oauth2/token';

/** Says what is wrong with one field of the key, or with all of it. */
type Refuse = (field: string | undefined, message: string) => undefined;

/**
 * Reads the key at load, so that a bad one stops the load and not the first request. Messages never quote the key: JSON.parse
 * would show a piece of it.
 */
export function readServiceAccount(
  settings: Secret | ServiceAccountKey,
  tokenUris: ReadonlySet<string>,
  report: Report,
): ServiceAccount | undefined {
  const whole = settings instanceof Secret;
  // A key given as text is one value in the YAML: there is no deeper place to point at.
  const refuse: Refuse = (field, message) => {
    const path = field === undefined || whole ? ['service_account'] : ['service_account', field];
    report({ path, message: `service_account: ${message}` });
    return undefined;
  };
  const fields = whole ? parseKeyFile(settings, refuse) : { ...settings, private_key: settings.private_key.reveal() };
  return fields && checkFields(fields, tokenUris, refuse);
}

function parseKeyFile(secret: Secret, refuse: Refuse): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(secret.reveal());
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { ...json };
  } catch {
    // Told below, without the parser's excerpt.
  }
  return refuse(undefined, 'is not the JSON of a service-account key (the file Google lets you download)');
}

function checkFields(
  fields: Readonly<Record<string, unknown>>,
  tokenUris: ReadonlySet<string>,
  refuse: Refuse,
): ServiceAccount | undefined {
  const { type, client_email: clientEmail, universe_domain: universe } = fields;
  if (type !== undefined && type !== 'service_account') {
    return refuse('type', 'the key is of another type; only "service_account" is supported');
  }
  if (universe !== undefined && universe !== 'googleapis.com') {
    return refuse('universe_domain', 'only the universe googleapis.com is supported');
  }
  if (typeof clientEmail !== 'string' || clientEmail === '') return refuse('client_email', 'client_email is missing');
  const privateKey = readPrivateKey(fields['private_key'], refuse);
  const tokenUri = readTokenUri(fields['token_uri'], tokenUris, refuse);
  if (!privateKey || !tokenUri) return undefined;
  const privateKeyId = text(fields['private_key_id']);
  return {
    clientEmail,
    privateKeyId,
    projectId: text(fields['project_id']),
    privateKey,
    tokenUri,
    listedTokenUri: tokenUri !== GOOGLE_TOKEN_URI,
    tokenKey: hashOf(clientEmail, privateKeyId ?? '', SCOPE, tokenUri, fingerprint(privateKey)),
  };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function readPrivateKey(value: unknown, refuse: Refuse): KeyObject | undefined {
  if (typeof value !== 'string' || value === '') return refuse('private_key', 'private_key is missing');
  try {
    // Environment variables and YAML often carry the line breaks as `\n` in letters.
    const key = createPrivateKey(value.replaceAll('\\n', '\n'));
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // OpenSSL's words ("unsupported decoder") help nobody.
  }
  return refuse('private_key', 'private_key is not an RSA private key in PEM form');
}

function readTokenUri(value: unknown, allowed: ReadonlySet<string>, refuse: Refuse): string | undefined {
  if (value === undefined || value === GOOGLE_TOKEN_URI || value === OLD_TOKEN_URI) return GOOGLE_TOKEN_URI;
  if (typeof value === 'string' && allowed.has(value)) return value;
  // Whoever can swap the key file must not be able to have signed assertions sent elsewhere.
  return refuse('token_uri', "token_uri is neither Google's nor listed in egress.token_uris of server.yaml");
}

/** Two keys of one account are two credentials, also where the file gives no private_key_id. */
function fingerprint(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
