import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../../plugin/errors.ts';
import type { RequestBody } from '../body/request-body.ts';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { addPiece } from '../../../formats/json/piece-list.ts';
import { FormBody, type HeldPart, type LiveRest } from './form-body.ts';
import { PartNames } from './part-names.ts';
import { FormScanner, type FormToken, type PartHead } from './form-scanner.ts';

/** Where a form's bytes come from, and the limits that it must keep. */
export interface InboundFormReading {
  readonly boundary: string;
  /** The client's `content-length`. */
  readonly announced: number | undefined;
  /** Resolves with the next piece of the body; undefined at its end. Rejects with GatewayError. */
  readonly read: () => Promise<Buffer | undefined>;
  /** The most bytes that are held (`limits.form_held`). */
  readonly mostHeld: number;
  /** Counts bytes that are held. Throws GatewayError. */
  readonly hold: (bytes: number) => void;
  /** Throws GatewayError for a part that must not follow the beginning of the sent form. */
  readonly checkLater: (part: Pick<PartHead, 'name' | 'isFile'>) => void;
}

/** Forms for models have some ten fields, and at most 16 images. */
const MAX_PARTS = 128;
/** Text fields hold at most a prompt. */
const MAX_TEXT_BYTES = 256 * 1024;

const MODEL = 'model';

/** Length of a boundary that cannot occur in a file by chance: 16 hex digits behind a prefix have 64 bits. */
const LEAST_BOUNDARY = 20;

/** A form for a model. Its text fields are known; the rest is in memory (`held`) or passes through once. */
export class InboundForm {
  /** The text fields as a JSON object; names that end with `[]` have lists. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly held: boolean;
  /** The arriving rest has gone to a target: no other target, and no second try, can get it. */
  spent = false;
  /** Field rules apply to the request: they have read the fields that are known, and no other may follow. Each says whether a file of that name may. */
  readonly fileRules: ((name: string) => boolean)[] = [];
  readonly #parts: readonly HeldPart[];
  readonly #rest: LiveRest | undefined;
  readonly #clientBoundary: string;

  constructor(parts: readonly HeldPart[], rest: LiveRest | undefined, boundary: string) {
    this.#parts = parts;
    this.#rest = rest;
    this.#clientBoundary = boundary;
    this.held = rest === undefined;
    this.fields = fieldsOf(parts);
  }

  /** Names of the files that are known. */
  get files(): readonly string[] {
    const heads = [...this.#parts, ...(this.#rest ? [this.#rest] : [])].map(({ head }) => head);
    return heads.filter(({ isFile }) => isFile).map(({ name }) => name);
  }

  /** The text fields as JSON. `extra_body` is written as it came: an upstream may read the first of two equal keys. */
  json(): Buffer {
    const { extra_body: extra, ...fields } = this.fields;
    const text = JSON.stringify(fields);
    return Buffer.from(typeof extra === 'string' ? `${text.slice(0, -1)},"extra_body":${extra}}` : text);
  }

  /** The form with the fields of `body` in place of its own. */
  bodyFor(body: RequestBody): FormBody {
    const rest = this.#rest && this.#once(this.#rest);
    // The boundary has the length of the client's, so that the length of the whole form stays known. It is random, so it cannot be in the file.
    const keepsLength = this.#clientBoundary.length >= LEAST_BOUNDARY;
    const length = keepsLength ? this.#clientBoundary.length : 32;
    const boundary = randomBytes(length).toString('hex').slice(0, length);
    const sized = rest && !keepsLength ? { ...rest, length: undefined } : rest;
    return new FormBody(boundary, this.#partsFor(body), sized);
  }

  #once(rest: LiveRest): LiveRest {
    const tokens = (): AsyncIterable<FormToken> => {
      if (this.spent) throw new GatewayError('internal_error', 'A form that was sent on cannot be sent again.');
      this.spent = true;
      return rest.tokens();
    };
    return { ...rest, tokens };
  }

  /** Unchanged parts stay as received, in their order. New fields stand before the first file. */
  #partsFor(body: RequestBody): readonly HeldPart[] {
    if (body.edits.length === 0) return this.#parts;
    const edited = new Set(body.edits.map(({ path }) => path[0] ?? ''));
    const kept = this.#parts.filter(({ head }) => head.isFile || !edited.has(head.name));
    const added = [...edited].filter((name) => body.has(name)).flatMap((name) => partsOf(name, body.value(name)));
    return [...added, ...kept];
  }
}

/** Reads a form until it can be sent: to its end, or until the model is known and a file begins. Throws GatewayError. */
export async function readForm(reading: InboundFormReading): Promise<InboundForm> {
  const { boundary, announced, read, mostHeld, hold } = reading;
  const scanner = new FormScanner(boundary);
  const holdsAll = announced !== undefined && announced <= mostHeld;
  const parts: { head: PartHead; pieces: Buffer[] }[] = [];
  const names = new PartNames();
  let bytes = 0;
  let text = 0;
  for (let piece = await read(); piece; piece = await read()) {
    const tokens = scanner.push(piece);
    hold(piece.length);
    for (let next = tokens.next(); !next.done; next = tokens.next()) {
      const token = next.value;
      const current = parts.at(-1);
      if (token.kind === 'data') {
        if (current && !current.head.isFile && (text += token.bytes.length) > MAX_TEXT_BYTES)
          throw invalid(`its text fields exceed ${MAX_TEXT_BYTES} bytes`);
        if (current) addPiece(current.pieces, token.bytes);
      } else if (token.kind === 'part') {
        const { head } = token;
        if (parts.length === MAX_PARTS) throw invalid(`it has more than ${MAX_PARTS} parts`);
        names.add(head);
        if (head.isFile && !holdsAll && parts.some((part) => part.head.name === MODEL)) {
          const length = announced === undefined ? undefined : announced - scanner.consumed;
          const rest = {
            head,
            length,
            tokens: () => arriving(reading, { scanner, tokens, names, count: parts.length }),
          };
          return new InboundForm(parts, rest, boundary);
        }
        parts.push({ head, pieces: [] });
      }
    }
    bytes += piece.length;
    if (bytes > mostHeld) throw tooLate(mostHeld);
  }
  scanner.finish();
  return new InboundForm(parts, undefined, boundary);
}

interface Begun {
  readonly scanner: FormScanner;
  /** The tokens of the piece in which the file begins. */
  readonly tokens: Iterable<FormToken>;
  readonly names: PartNames;
  /** Parts before the file. */
  readonly count: number;
}

async function* arriving({ read, checkLater }: InboundFormReading, begun: Begun): AsyncGenerator<FormToken, void> {
  const { scanner, names } = begun;
  let parts = begun.count;
  let pieces: Iterable<FormToken> = begun.tokens;
  for (;;) {
    for (const token of pieces) {
      if (token.kind === 'part') {
        if ((parts += 1) > MAX_PARTS) throw invalid(`it has more than ${MAX_PARTS} parts`);
        names.add(token.head);
        // Nothing has judged it: nothing that decides the request may come so late.
        checkLater(token.head);
      }
      yield token;
    }
    const piece = await read();
    if (!piece) break;
    pieces = scanner.push(piece);
  }
  yield scanner.finish();
}

const invalid = (why: string): GatewayError => new GatewayError('invalid_multipart', `The form is refused: ${why}.`);

const tooLate = (mostHeld: number): GatewayError =>
  new GatewayError(
    'model_after_file',
    `The form has no field \`model\` within its first ${mostHeld} bytes (limits.form_held). Send \`model\` before the file.`,
    { param: MODEL },
  );

/** Values of the text fields. `stream` has the value that JSON bodies have. */
function fieldsOf(parts: readonly HeldPart[]): Readonly<Record<string, unknown>> {
  const fields = new Map<string, unknown>();
  for (const { head, pieces } of parts) {
    if (head.isFile) continue;
    const { name } = head;
    const value = Buffer.concat([...pieces]).toString();
    const before = fields.get(name);
    if (name.endsWith('[]')) fields.set(name, [...(Array.isArray(before) ? (before as unknown[]) : []), value]);
    else if (name === 'extra_body') fields.set(name, objectText(value));
    else fields.set(name, name === 'stream' && /^(?:true|false)$/.test(value) ? value === 'true' : value);
  }
  return Object.fromEntries(fields);
}

/** Servers that have fields of their own in `extra_body` read an object in it. What JSON.parse does not read, they may. */
function objectText(text: string): string {
  if (isObject(parseJson(text))) return text;
  throw new GatewayError('invalid_request', 'The field `extra_body` of a form must be a JSON object.', {
    param: 'extra_body',
  });
}

/** The parts of a field that the gateway sets: a list has a part for each item, an object is its JSON. */
function partsOf(name: string, value: unknown): readonly HeldPart[] {
  if (value === null || value === undefined) return [];
  const raw = Buffer.from(`Content-Disposition: form-data; name="${quoted(name)}"`);
  const head: PartHead = { raw, name, isFile: false, filename: undefined, declared: undefined };
  return [value].flat().map((one) => ({
    head,
    pieces: [Buffer.from(typeof one === 'string' ? one : JSON.stringify(one))],
  }));
}

/** RFC 7578, section 2, and the encoding of browsers. */
const quoted = (name: string): string => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
