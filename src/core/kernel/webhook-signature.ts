import { createHmac } from 'node:crypto';
import type { Secret } from '../../plugin/secret.ts';

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

/** For a report at the secret. */
export const WRONG_SECRET =
  'the secret is not `whsec_` and the base64 of 24 to 64 bytes: `echo whsec_$(openssl rand -base64 32)` makes one';

/** The key of signatures, as https://www.standardwebhooks.com writes it. Undefined: it is not in that form. */
export function signingKey(secret: Secret): Buffer | undefined {
  const [, text] = SECRET.exec(secret.reveal()) ?? [];
  const key = text === undefined ? undefined : Buffer.from(text, 'base64');
  return key && key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined;
}

/** The headers of a signed request, by https://www.standardwebhooks.com. @param wall milliseconds since 1970 */
export function signedHeaders(id: string, wall: number, body: string, key: Buffer): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(wall / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}
