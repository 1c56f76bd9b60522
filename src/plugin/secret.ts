import { inspect } from 'node:util';

/**
 * A value that must never be printed. Its JSON, string and inspect forms are `[secret]`; only `reveal()` returns it,
 * and only code that writes it to a connection calls that. `source` names its origin (`env:NAME`), never the value.
 */
export class Secret {
  readonly #value: string;
  readonly source: string | undefined;

  constructor(value: string, source?: string) {
    this.#value = value;
    this.source = source;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return this.source ? `[secret ${this.source}]` : '[secret]';
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/**
 * The format of keys that `gatehouse keys create` generates, truncated or mistyped ones included: `gatehouse_<12-char
 * id>_<secret>`. Prefix and id suffice: no vendor's tokens have them, and a key with a wrong end must still be treated
 * as a key.
 */
const KEY_SHAPE = /gatehouse_[a-z0-9]{12}_/i;

/** Whether a text contains a string in the format of a gateway key, valid or not. */
export const holdsKeyShape = (text: string): boolean => KEY_SHAPE.test(text);
