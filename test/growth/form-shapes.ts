/** A form of about so many bytes, with its boundary. */
export interface Form {
  readonly boundary: string;
  readonly text: string;
}

const PLAIN = 'a'.repeat(30);
/** The longest boundary (RFC 2046, section 5.1.1), which begins like the delimiter itself. */
const DASHES = `${'-'.repeat(69)}x`;

const HEAD = 'Content-Disposition: form-data; name="f"';
const FILE = `${HEAD}; filename="a"`;

const part = (boundary: string, head: string, data: string): string => `--${boundary}\r\n${head}\r\n\r\n${data}\r\n`;
const fill = (bytes: number, unit: string): string => unit.repeat(Math.max(1, Math.floor(bytes / unit.length)));

const ofData =
  (boundary: string, unit: string) =>
  (bytes: number): Form => ({
    boundary,
    text: `${part(boundary, FILE, fill(bytes, unit))}--${boundary}--\r\n`,
  });

const ofParts =
  (boundary: string, one: string) =>
  (bytes: number): Form => ({
    boundary,
    text: `${fill(bytes, one)}--${boundary}--\r\n`,
  });

/** Just below the limit of a part's headers. */
const LONG = 7900;

/** Hostile multipart forms. */
export const FORM_SHAPES: Readonly<Record<string, (bytes: number) => Form>> = {
  'data of one byte': ofData(PLAIN, 'x'),
  'line ends': ofData(PLAIN, '\r\n'),
  'beginnings of a delimiter': ofData(PLAIN, `\r\n--${PLAIN.slice(1)}`),
  'a delimiter of dashes, and dashes': ofData(DASHES, '-'),
  'a delimiter of dashes, and its beginnings': ofData(DASHES, `\r\n--${DASHES.slice(1)}`),
  'delimiters after a line feed alone': ofData(PLAIN, `\n--${PLAIN}`),
  'parts without data': ofParts(PLAIN, part(PLAIN, HEAD, '')),
  'short parts': ofParts(PLAIN, part(PLAIN, FILE, 'x')),
  'long headers': ofParts(PLAIN, part(PLAIN, `${HEAD}\r\n${fill(LONG, 'x: y\r\n')}x: y`, '')),
  'long names': ofParts(PLAIN, part(PLAIN, `Content-Disposition: form-data; name="${fill(LONG, 'n')}"`, '')),
  'names of escapes': ofParts(PLAIN, part(PLAIN, `Content-Disposition: form-data; name="${fill(LONG, '\\"%22')}"`, '')),
  'names in the extended form': ofParts(PLAIN, part(PLAIN, `${HEAD}; filename*=utf-8''${fill(LONG, '%C3%BC')}`, '')),
  'spaces between parameters': ofParts(PLAIN, part(PLAIN, `${HEAD}${fill(LONG, ' ')}; filename="a"`, '')),
  'spaces behind the last parameter': ofParts(PLAIN, part(PLAIN, `${HEAD}${fill(LONG, ' \t')}`, '')),
  'a header that is not finished': (bytes) => ({ boundary: PLAIN, text: `--${PLAIN}\r\n${fill(bytes, 'x: y\r\n')}` }),
  'parameters that repeat': ofParts(PLAIN, part(PLAIN, `${HEAD}${fill(LONG, '; a=b')}`, '')),
};

const field = (name: string, more = ''): string => `Content-Disposition: form-data; name="${name}"${more}`;
const file = (name: string): string => field(name, '; filename="a"');
/** A form may have 128 parts. */
const PARTS = 100;
/** The part of the bytes that text fields may have: they are bounded by 256 KiB. */
const TEXT = 1 / 5;
const repeated = (make: (at: number) => string): string => Array.from({ length: PARTS }, (_, at) => make(at)).join('');

const formOf = (...parts: readonly string[]): Form => ({ boundary: PLAIN, text: `${parts.join('')}--${PLAIN}--\r\n` });
const ofText = (name: string, unit: string) => (bytes: number) =>
  formOf(part(PLAIN, field(name), fill(bytes * TEXT, unit)), part(PLAIN, file('file'), 'x'));

/** Forms of as many parts and as much text as a form for a model may have: they reach their target. */
export const WHOLE_FORM_SHAPES: Readonly<Record<string, (bytes: number) => Form>> = {
  'one long file': (bytes) => formOf(part(PLAIN, file('file'), fill(bytes, 'x'))),
  'many files': (bytes) => formOf(repeated(() => part(PLAIN, file('image[]'), fill(bytes / PARTS, '\r\n')))),
  'files with long headers': (bytes) =>
    formOf(
      repeated(() => part(PLAIN, `${file('image[]')}\r\n${fill(Math.min(LONG, bytes / PARTS), 'x: y\r\n')}x: y`, 'x')),
    ),
  'many texts': (bytes) =>
    formOf(
      repeated((at) => part(PLAIN, field(`f${at}`), fill((bytes * TEXT) / PARTS, 'x'))),
      part(PLAIN, file('file'), 'x'),
    ),
  'one list of texts': (bytes) =>
    formOf(
      repeated(() => part(PLAIN, field('timestamp_granularities[]'), fill((bytes * TEXT) / PARTS, 'x'))),
      part(PLAIN, file('file'), 'x'),
    ),
  'texts with long names': (bytes) =>
    formOf(repeated((at) => part(PLAIN, field(`${fill(Math.min(LONG, bytes / PARTS), 'a[')}${at}`), 'x'))),
  'texts behind a file': (bytes) =>
    formOf(
      part(PLAIN, file('file'), fill(bytes / 2, 'x')),
      repeated((at) => part(PLAIN, field(`f${at}`), fill((bytes * TEXT) / PARTS, 'x'))),
    ),
  'a long text': ofText('prompt', 'x'),
  'a text of escapes': ofText('prompt', '\0\\"\n'),
  'a text that is no UTF-8': ofText('prompt', '\xff\xc3'),
  'a text of brackets': ofText('prompt', '[{'),
  'a stream that is a long text': ofText('stream', 'true'),
};
