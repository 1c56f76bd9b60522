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
