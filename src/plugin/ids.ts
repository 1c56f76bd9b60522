import { randomFillSync } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Random bytes from a refilled pool: one system call per 4 KiB instead of one per id. */
function take(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}

/** UUID version 7 (RFC 9562): sorts by time, which suits the indexes of log stores and databases. */
export function uuidv7(wallMs: number): string {
  const time = Math.floor(wallMs).toString(16).padStart(12, '0');
  const random = take(10);
  const hex = random.toString('hex');
  const variant = (0x8 | (random[2]! & 0x3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-${variant}${hex.slice(5, 8)}-${hex.slice(8, 20)}`;
}

export const traceId = (): string => take(16).toString('hex');

/**
 * Id for a tool call that the provider sent without one: `call_` and 24 of `[a-z0-9]`
 * (docs/protocols/replies.md#call-ids).
 */
export function callId(): string {
  let id = 'call_';
  // 252 = 7 × 36: larger bytes are skipped so that every character is equally likely.
  while (id.length < 29) for (const byte of take(28)) if (byte < 252 && id.length < 29) id += ALPHABET[byte % 36];
  return id;
}
