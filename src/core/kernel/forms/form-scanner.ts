import { GatewayError } from '../../../plugin/errors.ts';

/** The head of a part: its headers as received, and what they say. */
export interface PartHead {
  /** The header lines, without the blank line. */
  readonly raw: Buffer;
  readonly name: string;
  readonly isFile: boolean;
  readonly filename: string | undefined;
  /** The part's type without parameters, in lower case; undefined if it states none. */
  readonly declared: string | undefined;
}

export type FormToken =
  | { readonly kind: 'part'; readonly head: PartHead }
  | { readonly kind: 'data'; readonly bytes: Buffer }
  /** `tail`: the bytes after the last delimiter, a line end or nothing. */
  | { readonly kind: 'end'; readonly tail: Buffer };

const LINE = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/** Part headers have a name, a file name and a type. */
const MAX_HEAD_BYTES = 8 * 1024;

const broken = (why: string): GatewayError => new GatewayError('invalid_multipart', `The form is not valid: ${why}.`);

/**
 * Splits a `multipart/form-data` body (RFC 7578) as it arrives, in bounded memory. Padding, text around the parts and
 * bare line feeds are refused or count as data: the target could read such a form differently.
 */
export class FormScanner {
  readonly #delimiter: Buffer;
  /** The body's first delimiter has no line end before it: one is assumed. */
  #kept: Buffer = LINE;
  #pushed = 0;
  #state: 'start' | 'head' | 'data' | 'end' = 'start';

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Number of the body's bytes that the tokens so far cover. */
  get consumed(): number {
    return this.#pushed - this.#kept.length;
  }

  get ended(): boolean {
    return this.#state === 'end';
  }

  /** Throws GatewayError `invalid_multipart`. Each token must be taken before the next push. */
  *push(bytes: Buffer): Generator<FormToken, void> {
    this.#pushed += bytes.length;
    this.#kept = this.#kept.length === 0 ? bytes : Buffer.concat([this.#kept, bytes]);
    for (;;) {
      const token = this.#state === 'head' ? this.#head() : this.#data();
      if (!token) return;
      if (token.kind !== 'data' || token.bytes.length > 0) yield token;
    }
  }

  /** Called at the end of the body. Throws for a body that is cut off. */
  finish(): FormToken {
    if (this.#state !== 'end') throw broken('it is cut off');
    return { kind: 'end', tail: this.#kept };
  }

  #head(): FormToken | undefined {
    const end = this.#kept.indexOf(BLANK_LINE);
    if (end > MAX_HEAD_BYTES || (end < 0 && this.#kept.length > MAX_HEAD_BYTES))
      throw broken('the headers of a part are too long');
    if (end < 0) return undefined;
    const head = readHead(this.#kept.subarray(0, end));
    this.#kept = this.#kept.subarray(end + BLANK_LINE.length);
    this.#state = 'data';
    return { kind: 'part', head };
  }

  #data(): FormToken | undefined {
    if (this.#state === 'end') {
      if (!LINE.subarray(0, this.#kept.length).equals(this.#kept)) throw broken('bytes follow its last delimiter');
      return undefined;
    }
    const at = this.#kept.indexOf(this.#delimiter);
    if (at < 0) return this.#dataBefore(this.#kept.length - this.#delimiter.length + 1);
    if (at > 0) return this.#dataBefore(at);
    const behind = this.#kept.subarray(this.#delimiter.length, this.#delimiter.length + 2);
    if (behind.length < 2) return undefined;
    const isLast = behind.toString('latin1') === '--';
    if (!isLast && !behind.equals(LINE)) throw broken('a delimiter has something else than a line end behind it');
    if (isLast && this.#state === 'start') throw broken('it has no part');
    this.#kept = this.#kept.subarray(this.#delimiter.length + 2);
    this.#state = isLast ? 'end' : 'head';
    return { kind: 'data', bytes: NOTHING };
  }

  #dataBefore(end: number): FormToken | undefined {
    if (end <= 0) return undefined;
    if (this.#state === 'start') throw broken('it does not begin with its boundary');
    const bytes = this.#kept.subarray(0, end);
    this.#kept = this.#kept.subarray(end);
    return { kind: 'data', bytes };
  }
}

function readHead(raw: Buffer): PartHead {
  const lines = raw.toString('utf8').split('\r\n');
  const dispositions = lines.flatMap((line) => /^content-disposition\s*:\s*(.*)$/i.exec(line)?.[1] ?? []);
  const [disposition] = dispositions;
  if (disposition === undefined || dispositions.length > 1) throw broken('a part has no single Content-Disposition');
  const parameters = readParameters(disposition);
  const name = parameters.get('name');
  if (name === undefined || name === '') throw broken('a part has no name');
  const filename = extendedValue(parameters.get('filename*')) ?? parameters.get('filename');
  const declared = lines
    .flatMap((line) => /^content-type\s*:\s*([^;]*)/i.exec(line)?.[1]?.trim().toLowerCase() ?? [])
    .at(0);
  const isFile = parameters.has('filename') || parameters.has('filename*');
  return { raw, name, isFile, filename: filename ?? (isFile ? '' : undefined), declared };
}

/** RFC 8187, section 3.2.1; undefined for another encoding than UTF-8. */
function extendedValue(text: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(text ?? '')?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

const PARAMETER = /\s*;\s*([a-z*]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/iy;

function readParameters(disposition: string): ReadonlyMap<string, string> {
  const type = /^form-data(?=\s*(?:;|$))/i.exec(disposition)?.[0];
  if (type === undefined) throw broken('a part is no form-data');
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = type.length;
  let end = type.length;
  for (let found = PARAMETER.exec(disposition); found; found = PARAMETER.exec(disposition)) {
    const [, key = '', quoted, plain = ''] = found;
    const lower = key.toLowerCase();
    if (parameters.has(lower)) throw broken('a part has a parameter twice');
    // Browsers write a quote as %22 (RFC 7578, section 2), older clients as \".
    parameters.set(lower, quoted === undefined ? plain : quoted.replaceAll(/\\(["\\])/g, '$1').replaceAll('%22', '"'));
    end = PARAMETER.lastIndex;
  }
  if (disposition.slice(end).trim() !== '') throw broken('a Content-Disposition cannot be read');
  return parameters;
}
