import { createHash } from 'node:crypto';
import type { OwnedValue, OwnedValues } from '../../core/ports/fleet-memory.ts';
import type { SharedEngine } from './engine/engine.ts';
import { Script } from './engine/script.ts';
import type { Sealer } from './sealer.ts';

const LIMIT_MS = 250;
const MOST_AT_ONCE = 1000;
/** Longer names are digests: callers choose them. */
const MAX_NAME = 200;
/** Memory that Valkey takes for a value besides its bytes. */
const OVERHEAD = 512;

/**
 * Writes a value and drops the oldest ones of its owner while all of them take more bytes than they may.
 *
 * KEYS: the owner's values by age, their sizes, the value, then what is written with it. ARGV: TTL in ms, bytes at most, bytes of this
 * value, the value, then each further value.
 */
const keepScript = new Script(`
local ttl, most, size = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function drop(name)
  redis.call('ZREM', KEYS[1], name)
  local bytes = redis.call('HGET', KEYS[2], name)
  if not bytes then return end
  redis.call('HINCRBY', KEYS[2], '', '-' .. bytes)
  redis.call('HDEL', KEYS[2], name)
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1000)) do drop(name) end
drop(KEYS[3])
redis.call('SET', KEYS[3], ARGV[4], 'PX', ttl)
for i = 4, #KEYS do redis.call('SET', KEYS[i], ARGV[i + 1], 'PX', ttl) end
redis.call('ZADD', KEYS[1], now + tonumber(ttl), KEYS[3])
redis.call('HSET', KEYS[2], KEYS[3], size)
local sum = redis.call('HINCRBY', KEYS[2], '', size)
for _ = 1, 1000 do
  if sum <= most then break end
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if not oldest or oldest == KEYS[3] then break end
  drop(oldest)
  redis.call('DEL', oldest)
  sum = tonumber(redis.call('HGET', KEYS[2], '') or '0')
end
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('PEXPIRE', KEYS[2], ttl)
return 1
`);

interface SharedValuesSetup {
  readonly engine: SharedEngine;
  readonly sealer: Sealer;
  readonly prefix: string;
}

/** Values of owners, each in the hash slot of its owner. */
export class SharedValues implements OwnedValues {
  readonly #setup: SharedValuesSetup;

  constructor(setup: SharedValuesSetup) {
    this.#setup = setup;
  }

  sizes(owner: string, names: readonly string[]): Promise<readonly number[]> {
    const asked = this.#placesOf(owner, names).map((place) => this.#ask(['STRLEN', place]));
    return Promise.all(asked).then((sizes) => sizes.map(Number));
  }

  async find(owner: string, names: readonly string[]): Promise<readonly (Buffer | undefined)[]> {
    const places = this.#placesOf(owner, names);
    const asked: Promise<unknown>[] = [];
    for (let at = 0; at < places.length; at += MOST_AT_ONCE)
      asked.push(this.#ask(['MGET', ...places.slice(at, at + MOST_AT_ONCE)]));
    const values = (await Promise.all(asked)).flatMap((some): readonly unknown[] => (Array.isArray(some) ? some : []));
    return places.map((place, at) => {
      const value = values[at];
      return Buffer.isBuffer(value) ? this.#setup.sealer.open(value, place) : undefined;
    });
  }

  async keep(
    owner: string,
    { name, bytes, ttlMs, maxBytes }: OwnedValue,
    also: ReadonlyMap<string, Buffer>,
  ): Promise<void> {
    const { engine, sealer } = this.#setup;
    const places = this.#placesOf(owner, [name, ...also.keys()]);
    const sealed = [bytes, ...also.values()].map((value, at) => sealer.seal(value, places[at]!));
    const size = sealed.reduce((sum, value) => sum + value.length + OVERHEAD, 0);
    const keys = [...this.#placesOf(owner, ['ages', 'sizes']), ...places];
    const args = [String(Math.ceil(ttlMs)), String(maxBytes), String(size), ...sealed];
    await keepScript.run(engine, { job: 'responses', keys, args, limitMs: LIMIT_MS });
  }

  /** Its size leaves the sum when it would have expired, or is written again. */
  readonly remove = async (owner: string, name: string): Promise<boolean> =>
    Number(await this.#ask(['DEL', ...this.#placesOf(owner, [name])])) > 0;

  readonly #ask = (args: readonly string[]): Promise<unknown> =>
    this.#setup.engine.ask('responses', args, { limitMs: LIMIT_MS, bytes: true });

  #placesOf(owner: string, names: readonly string[]): string[] {
    const tag = digest(owner);
    return names.map((name) => `${this.#setup.prefix}:{${tag}}:${name.length > MAX_NAME ? `#${digest(name)}` : name}`);
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
