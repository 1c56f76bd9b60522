import { isObject, parseJson } from '../../formats/json/object.ts';
import type { CachedReply } from '../../core/kernel/index.ts';
import type { FarReplies } from '../../core/memory/ports.ts';
import type { Clock } from '../../plugin/index.ts';
import type { SharedEngine } from './engine/engine.ts';
import { TooSlow, within } from './engine/within.ts';
import type { SharedFamilies } from './engine/metrics.ts';
import type { Sealer } from './sealer.ts';

const LOOKUP_MS = 20;
/** A reply of megabytes takes longer than a command; no request waits for it. */
const WRITE_MS = 1000;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
const LENGTH_BYTES = 4;
/** A reply, its head and its seal. Others may write to the server, too: a value that is longer is read no further. */
const MOST_VALUE = MAX_WAITING_BYTES + 64 * 1024;

interface SharedRepliesSetup {
  readonly engine: SharedEngine;
  readonly sealer: Sealer;
  readonly prefix: string;
  readonly clock: Clock;
  readonly families: SharedFamilies;
}

/** The head in front of the bytes of a reply. Times are wall clocks: gateways have no other clock in common. */
interface Head extends Omit<CachedReply, 'bytes' | 'storedAt'> {
  readonly storedAt: number;
  readonly maxAgeMs: number;
}

/** Replies that all gateways have cached. The names of keys have the scope of each reply in their digest. */
export class SharedReplies implements FarReplies {
  readonly #setup: SharedRepliesSetup;
  #waitingBytes = 0;

  constructor(setup: SharedRepliesSetup) {
    this.#setup = setup;
  }

  readonly find = (key: string): ReturnType<FarReplies['find']> =>
    this.#setup.engine.isUp ? this.#find(this.#placeOf(key)) : undefined;

  async #find(place: string): Promise<{ reply: CachedReply; maxAgeMs: number } | undefined> {
    const { engine, clock, families, sealer } = this.#setup;
    const count = (result: 'hit' | 'miss' | 'slow'): void => families.sharedLookups.add({ result });
    try {
      const command = ['GETRANGE', place, '0', String(MOST_VALUE)];
      const value = await within(engine.ask('cache', command, { bytes: true }), LOOKUP_MS, clock);
      const isWhole = Buffer.isBuffer(value) && value.length <= MOST_VALUE;
      const bytes = isWhole ? sealer.open(value, place) : undefined;
      const found = bytes && read(bytes, clock);
      count(found ? 'hit' : 'miss');
      return found;
    } catch (error) {
      count(error instanceof TooSlow ? 'slow' : 'miss');
      return undefined;
    }
  }

  store(key: string, reply: CachedReply, maxAgeMs: number): void {
    const { engine, clock, families, sealer } = this.#setup;
    if (!engine.isUp) return;
    const size = reply.bytes.length;
    if (this.#waitingBytes + size > MAX_WAITING_BYTES) return families.sharedDropped.add({});
    const { bytes, storedAt, ...facts } = reply;
    const ageMs = clock.now() - storedAt;
    const leftMs = Math.floor(maxAgeMs - ageMs);
    if (leftMs <= 0) return;
    const head: Head = { ...facts, storedAt: clock.wall() - ageMs, maxAgeMs };
    const place = this.#placeOf(key);
    const value = sealer.seal(written(head, bytes), place);
    this.#waitingBytes += size;
    engine
      .ask('cache', ['SET', place, value, 'PX', String(leftMs)], { limitMs: WRITE_MS })
      // It was counted; the reply is in the memory of this gateway.
      .catch(() => {})
      .finally(() => (this.#waitingBytes -= size));
  }

  readonly #placeOf = (key: string): string => `${this.#setup.prefix}:reply:${key}`;
}

function written(head: Head, bytes: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, bytes]);
}

/** Undefined: another release has written it, or something else. */
function read(value: Buffer, clock: Clock): { reply: CachedReply; maxAgeMs: number } | undefined {
  if (value.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + value.readUInt32BE();
  const head = parseJson(value.toString('utf8', LENGTH_BYTES, end));
  if (!isHead(head)) return undefined;
  const { storedAt: storedWall, maxAgeMs, ...facts } = head;
  // The clock of the gateway that wrote it may be ahead.
  const ageMs = Math.max(0, clock.wall() - storedWall);
  if (ageMs >= maxAgeMs) return undefined;
  return { reply: { ...facts, bytes: value.subarray(end), storedAt: clock.now() - ageMs }, maxAgeMs };
}

const isHead = (head: unknown): head is Head =>
  isObject(head) &&
  Number.isInteger(head['status']) &&
  typeof head['contentType'] === 'string' &&
  typeof head['stream'] === 'boolean' &&
  typeof head['includeUsage'] === 'boolean' &&
  Array.isArray(head['losses']) &&
  Number.isFinite(head['storedAt']) &&
  Number.isFinite(head['maxAgeMs']);
