import { createHash, createHmac } from 'node:crypto';
import type { KeyEncryptionKeys } from './sealing.ts';

interface ChainKey {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A hash of the chain: SHA-256 or, behind the id of a key and a point, HMAC-SHA-256. */
const HASH = /^(?:([0-9a-f]{16})\.)?[0-9a-f]{64}$/;

/**
 * The keys of the chain of the audit: one for each key of the ring, by an id that is made of the key. A key of the same name with other
 * bytes has another id.
 */
export class ChainKeys {
  readonly #keys: ReadonlyMap<string, ChainKey>;
  readonly #first: string | undefined;

  constructor(ring: KeyEncryptionKeys) {
    this.#keys = new Map(
      ring.names.map((name) => {
        const bytes = ring.derive('audit chain', name)!;
        return [createHmac('sha256', bytes).update('id').digest('hex').slice(0, 16), { name, bytes }];
      }),
    );
    [this.#first] = this.#keys.keys();
  }

  /** The name of a key in the ring. Undefined: the ring does not have it. */
  nameOf(id: string): string | undefined {
    return this.#keys.get(id)?.name;
  }

  /** The id of the key of the next row; empty: it has none. */
  get first(): string {
    return this.#first ?? '';
  }

  /**
   * The hash of a row. Undefined: the ring does not have the key.
   * @param prev the hash of the row before
   * @param id of the key; empty: SHA-256
   */
  hash(prev: string, text: string, id: string): string | undefined {
    // The bytes of a hash without a key, as in chains that were made before there were keys.
    const before = prev.includes('.') ? prev : Buffer.from(prev, 'hex');
    if (id === '') return createHash('sha256').update(before).update(text).digest('hex');
    const key = this.#keys.get(id);
    return key && `${id}.${createHmac('sha256', key.bytes).update(before).update(text).digest('hex')}`;
  }
}

/** The id of the key of a hash; empty for a hash without one, undefined for a text that is no hash. */
export function keyIdOf(hash: string): string | undefined {
  const found = HASH.exec(hash);
  return found ? (found[1] ?? '') : undefined;
}
