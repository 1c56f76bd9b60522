import type { SearchableBody } from '../../formats/body-view.ts';
import { RequestBody, type Outbound } from '../kernel/index.ts';

const ANY_ESCAPE = Buffer.from(String.raw`\u00`);
/** The escape of a printable ASCII character, except those that encoders write: Go and Gson escape `&`, `<`, `>` and `=`, Gson and PHP also `'`. */
const ASCII_ESCAPE = /\\u00(?!26|27|3[cde])[2-7]/i;

/** True if the body escapes printable ASCII characters as no encoder does: a search of its bytes could miss a text. */
const escapesAscii = (bytes: Buffer): boolean =>
  bytes.includes(ANY_ESCAPE) && ASCII_ESCAPE.test(bytes.toString('latin1'));

/** A body that has been parsed within its limits before, by its format or as the caller's body: no limit applies. */
export const viewOf = (body: Outbound['body']): RequestBody =>
  RequestBody.read(typeof body === 'string' ? Buffer.from(body) : body, Number.POSITIVE_INFINITY);

const NESTED: ReadonlySet<string | undefined> = new Set(['messages', 'tools', 'functions']);

/**
 * `contains` searches the caller's bytes only: values from an override are the operator's and stay. It is true for
 * bytes with needless escapes, because only parsing shows what they hold.
 */
export class CallersBody implements SearchableBody {
  readonly #body: RequestBody;
  #escapes: boolean | undefined;

  constructor(body: RequestBody) {
    this.#body = body;
  }

  has(key: string): boolean {
    return this.#body.has(key);
  }

  value(key: string): unknown {
    return this.#body.value(key);
  }

  refuseRepeatsIn(key: string): void {
    this.#body.refuseRepeatsIn(key);
  }

  contains(text: string): boolean {
    return this.#body.original.includes(text) || (this.#escapes ??= escapesAscii(this.#body.original));
  }

  mayMatch(pattern: RegExp, keys?: readonly string[]): boolean {
    const { edits, original } = this.#body;
    if (edits.some(({ path }) => NESTED.has(path[0]))) return true;
    // A search for a text makes no string of the body.
    return (!keys || keys.some((key) => original.includes(key))) && pattern.test(original.toString('latin1'));
  }
}
