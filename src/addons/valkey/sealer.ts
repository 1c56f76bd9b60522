import { hkdfSync } from 'node:crypto';
import { IV_BYTES, openBytes, sealBytes, TAG_BYTES } from '../../core/kernel/aes-gcm.ts';
import type { Secret } from '../../plugin/index.ts';

const KEY_BYTES = 32;
const NO_KEY = 0;

/**
 * Seals values with the first of the encryption keys, and opens those of all. Each value is bound to its place, which names its scope or
 * owner: one that was moved to another place does not open. Without keys values are written as they are.
 */
export class Sealer {
  /** By name, the one that seals first. */
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #first: string | undefined;

  /** @param encryptionKeys `k2:<base64>,k1:<base64>`, which the settings have checked */
  constructor(encryptionKeys: Secret | undefined) {
    this.#keys = new Map(
      (encryptionKeys?.reveal().trim().split(/[,\n]/) ?? []).map((one) => {
        const [name = '', key = ''] = one.trim().split(/:(.*)/s);
        const made = hkdfSync('sha256', Buffer.from(key, 'base64'), '', 'gatehouse shared values', KEY_BYTES);
        return [name, Buffer.from(made)] as const;
      }),
    );
    [this.#first] = this.#keys.keys();
  }

  seal(value: Buffer, place: string): Buffer {
    const key = this.#first === undefined ? undefined : this.#keys.get(this.#first);
    if (this.#first === undefined || !key) return Buffer.concat([Buffer.of(NO_KEY), value]);
    const { iv, tag, text } = sealBytes(key, value, Buffer.from(place));
    return Buffer.concat([Buffer.of(this.#first.length), Buffer.from(this.#first), iv, tag, text]);
  }

  /** Undefined: it is no value of this place, or sealed with another key, or not sealed although it should be. */
  open(bytes: Buffer, place: string): Buffer | undefined {
    const length = bytes[0];
    if (length === undefined || (length === NO_KEY) !== (this.#first === undefined)) return undefined;
    if (length === NO_KEY) return bytes.subarray(1);
    const from = 1 + length;
    const key = this.#keys.get(bytes.toString('latin1', 1, from));
    const [tagAt, textAt] = [from + IV_BYTES, from + IV_BYTES + TAG_BYTES];
    if (!key || bytes.length < textAt) return undefined;
    const sealed = {
      iv: bytes.subarray(from, tagAt),
      tag: bytes.subarray(tagAt, textAt),
      text: bytes.subarray(textAt),
    };
    return openBytes(key, sealed, Buffer.from(place));
  }
}
