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
