import { isObject } from '../../../core/kernel/index.ts';
import type { Upstream } from '../../../core/upstream/types.ts';
import type { Clock } from '../../../plugin/index.ts';

export interface KeySetSource {
  readonly url: string;
  readonly timeoutMs: number;
  readonly allowInsecure: boolean;
}

/** JSON Web Keys, RFC 7517. */
export interface KeySet {
  readonly keys: object[];
}

const KEPT_MS = 10 * 60_000;
/** Older keys are fetched again for a token whose key is not among them: the issuer may have changed its keys. */
const FRESH_MS = 30_000;
const MAX_BYTES = 256 * 1024;

/** The keys of an issuer, fetched at most every 30 seconds, whatever tokens callers send. */
export class KeySets {
  readonly #source: KeySetSource;
  readonly #clock: Clock;
  readonly #exchange: Upstream['exchange'];
  #known: KeySet | undefined;
  #at = -Infinity;
  #fetching: Promise<KeySet> | undefined;

  constructor(
    source: KeySetSource,
    { clock, exchange }: { readonly clock: Clock; readonly exchange: Upstream['exchange'] },
  ) {
    this.#source = source;
    this.#clock = clock;
    this.#exchange = exchange;
  }

  /**
   * Rejects when there are no keys.
   * @param anew the known keys have not the one of a token
   */
  get(anew = false): Promise<KeySet> | KeySet {
    const age = this.#clock.now() - this.#at;
    const isOld = age > (anew ? FRESH_MS : KEPT_MS);
    if (this.#known && !isOld) return this.#known;
    // An issuer that fails is asked as rarely; old keys stay valid meanwhile.
    if (age <= FRESH_MS && !this.#fetching)
      return this.#known ?? Promise.reject(new Error('the keys cannot be fetched'));
    if (!this.#fetching) {
      this.#at = this.#clock.now();
      this.#fetching = this.#fetch().finally(() => (this.#fetching = undefined));
    }
    const known = this.#known;
    return known ? this.#fetching.catch(() => known) : this.#fetching;
  }

  async #fetch(): Promise<KeySet> {
    const { url, timeoutMs, allowInsecure } = this.#source;
    const request = { url, method: 'GET', headers: {}, maxBytes: MAX_BYTES, allowInsecure, timeoutMs } as const;
    const { status, bytes, text } = await this.#exchange(request);
    if (status !== 200) throw new Error(`the address of the keys answered HTTP ${status}`);
    const value: unknown = JSON.parse(bytes?.toString() ?? text);
    if (!isKeySet(value)) throw new Error('the address of the keys answered no key set');
    return (this.#known = value);
  }
}

const isKeySet = (value: unknown): value is KeySet =>
  isObject(value) && Array.isArray(value['keys']) && value['keys'].every(isObject);
