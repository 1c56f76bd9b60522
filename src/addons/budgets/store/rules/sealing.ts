import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { ENCRYPTION_KEY_BYTES, parseEncryptionKeys } from './encryption-keys.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { SealedPlace, SecretRing } from '../../../../core/ports/store-rules.ts';
import { openBytes, sealBytes } from '../../../../core/kernel/aes-gcm.ts';
import { parseJson } from '../../../../formats/json/object.ts';

// Envelope encryption: each value has a random data key of its own (AES-256-GCM), and a key of the ring wraps that data key the same way.
// The additional data names the place of the value, so that a value moved to another row does not open.

interface Encrypted {
  readonly iv: string;
  readonly ct: string;
  readonly tag: string;
}

interface SealedText extends Encrypted {
  readonly v: 1;
  readonly kid: string;
  readonly wiv: string;
  readonly wdek: string;
  readonly wtag: string;
}

/** The key-encryption keys, the one that seals first. None: nothing can be sealed. */
export class KeyEncryptionKeys implements SecretRing {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #first: string | undefined;
  readonly #audit: Buffer | undefined;

  private constructor(keys: ReadonlyMap<string, Buffer>) {
    this.#keys = keys;
    const [first] = keys;
    this.#first = first?.[0];
    this.#audit = first && Buffer.from(hkdfSync('sha256', first[1], '', 'gatehouse audit', ENCRYPTION_KEY_BYTES));
  }

  static none(): KeyEncryptionKeys {
    return new KeyEncryptionKeys(new Map());
  }

  /**
   * `k2:<base64 of 32 bytes>,k1:<…>`, the sealing key first.
   * @param text empty or undefined: no keys
   * @throws StateFailure `sealed`
   */
  static parse(text: string | undefined): KeyEncryptionKeys {
    if (!text) return KeyEncryptionKeys.none();
    try {
      return new KeyEncryptionKeys(parseEncryptionKeys(text));
    } catch (error) {
      throw error instanceof RangeError ? unopened(error.message) : error;
    }
  }

  get names(): readonly string[] {
    return [...this.#keys.keys()];
  }

  seal(value: string, place: SealedPlace): string {
    if (this.#first === undefined)
      throw unopened('a secret can only be stored with a key to seal it: state.encryption_keys');
    const aad = aadOf(place);
    const dek = randomBytes(ENCRYPTION_KEY_BYTES);
    const body = encrypt(dek, Buffer.from(value), aad);
    const wrapped = encrypt(this.#keys.get(this.#first)!, dek, aad);
    dek.fill(0);
    const { iv: wiv, ct: wdek, tag: wtag } = wrapped;
    const envelope: SealedText = { v: 1, kid: this.#first, ...body, wiv, wdek, wtag };
    return JSON.stringify(envelope);
  }

  open(text: string, place: SealedPlace): string {
    const envelope = parseEnvelope(text, place);
    const aad = aadOf(place);
    const dek = this.#unwrap(envelope, place, aad);
    const value = decrypt(dek, envelope, aad);
    dek.fill(0);
    if (!value) throw unopened(`${nameOf(place)} was changed, or belongs to another row`);
    return value.toString();
  }

  /** The same envelope under the first key; undefined if it is already. */
  rewrap(text: string, place: SealedPlace): string | undefined {
    const envelope = parseEnvelope(text, place);
    if (envelope.kid === this.#first || this.#first === undefined) return undefined;
    const aad = aadOf(place);
    const dek = this.#unwrap(envelope, place, aad);
    const wrapped = encrypt(this.#keys.get(this.#first)!, dek, aad);
    dek.fill(0);
    return JSON.stringify({ ...envelope, kid: this.#first, wiv: wrapped.iv, wdek: wrapped.ct, wtag: wrapped.tag });
  }

  /** Eight hex digits by which an audit row distinguishes values of a secret. */
  fingerprint(value: string): string {
    return this.#audit ? createHmac('sha256', this.#audit).update(value).digest('hex').slice(0, 8) : '';
  }

  /** The key under which other rooms sign what they store, by purpose. @param name of the key that it is made of; default: the first */
  derive(purpose: string, name = this.#first): Buffer | undefined {
    const key = name === undefined ? undefined : this.#keys.get(name);
    return key && Buffer.from(hkdfSync('sha256', key, '', `gatehouse ${purpose}`, ENCRYPTION_KEY_BYTES));
  }

  #unwrap(envelope: SealedText, place: SealedPlace, aad: Buffer): Buffer {
    const kek = this.#keys.get(envelope.kid);
    if (!kek)
      throw unopened(
        `${nameOf(place)} is sealed with the key "${envelope.kid}", which state.encryption_keys does not have`,
      );
    const dek = decrypt(kek, { iv: envelope.wiv, ct: envelope.wdek, tag: envelope.wtag }, aad);
    if (!dek)
      throw unopened(
        `${nameOf(place)} does not open: "${envelope.kid}" is another key than the one that sealed it, or the row was changed`,
      );
    return dek;
  }
}

function encrypt(key: Buffer, value: Buffer, aad: Buffer): Encrypted {
  const { iv, tag, text } = sealBytes(key, value, aad);
  return { iv: iv.toString('base64'), ct: text.toString('base64'), tag: tag.toString('base64') };
}

/** Undefined: the key, the place or the bytes are others. */
const decrypt = (key: Buffer, { iv, ct, tag }: Encrypted, aad: Buffer): Buffer | undefined =>
  openBytes(
    key,
    { iv: Buffer.from(iv, 'base64'), tag: Buffer.from(tag, 'base64'), text: Buffer.from(ct, 'base64') },
    aad,
  );

function parseEnvelope(text: string, place: SealedPlace): SealedText {
  const envelope = Object(parseJson(text)) as SealedText;
  const texts = [envelope.kid, envelope.iv, envelope.ct, envelope.tag, envelope.wiv, envelope.wdek, envelope.wtag];
  if (envelope.v === 1 && texts.every((part) => typeof part === 'string')) return envelope;
  throw unopened(`${nameOf(place)} is no envelope`);
}

// No part can contain the separator: ids and names of fields are checked when they are written.
const aadOf = ({ table, id, field, version }: SealedPlace): Buffer => Buffer.from(`${table}|${id}|${field}|${version}`);
const nameOf = ({ id, field }: SealedPlace): string => `the secret "${field}" of ${id}`;
const unopened = (message: string): StateFailure => new StateFailure('sealed', message);
