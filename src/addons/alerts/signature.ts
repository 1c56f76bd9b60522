import { createHmac } from 'node:crypto';

/** Headers by https://www.standardwebhooks.com, for which receivers have libraries. @param wall milliseconds since 1970 */
export function signedHeaders(id: string, wall: number, body: string, key: Buffer): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(wall / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}
