import { inspect } from 'node:util';

/**
 * A value that must never be printed. JSON, string and inspect forms are `[secret]`; only `reveal()` gives it away, and
 * only the code that puts it on a wire calls that. `source` says where it came from (`env:NAME`), never what it is.
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
