// The XML that S3 answers has elements without attributes, no comments and no sections (docs/protocols/files.md#s3). Its size is bounded by
// the reply's. Each search goes on where the last one ended, so the cost is linear in the bytes, whatever they are.

/** The name of the outermost element; undefined: the text is no XML. */
export const rootOf = (xml: string): string | undefined =>
  /^(?:<\?xml[^>]{0,200}>)?\s*<([A-Za-z]{1,64})[\s>]/.exec(xml.trimStart())?.[1];

/** The content of each element of this name, in order. One that does not end is none. */
export function* elementsOf(xml: string, name: string): Generator<string> {
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(open); at >= 0;) {
    const end = xml.indexOf(close, at + open.length);
    if (end < 0) return;
    yield xml.slice(at + open.length, end);
    at = xml.indexOf(open, end + close.length);
  }
}

/** The text of the first element of this name. */
export function textOf(xml: string, name: string): string | undefined {
  const { value } = elementsOf(xml, name).next();
  return typeof value === 'string' ? unescape(value) : undefined;
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Replaces the five named references and those by number. Others stay as they are. */
const unescape = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([\dA-Fa-f]{1,6})|(amp|lt|gt|quot|apos));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name)] ?? whole;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
