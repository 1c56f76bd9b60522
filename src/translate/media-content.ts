import { bareMime, sniffMedia } from '../formats/media/media-types.ts';
import type { FetchedMedia } from '../formats/media/remote-media.ts';
import type { Download } from '../upstream/types.ts';

/** Types that object stores report for files that were uploaded without a type. */
const NO_TYPE: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

const TEXT = 'text/plain';

/**
 * Checks a download against its own media type. The type is the server's claim and the first bytes must agree with it:
 * otherwise an HTML page labelled `image/png` would reach the model. Returns a phrase that follows `it` if the download
 * is unusable.
 */
export function readMedia({ headers, body }: Download, types: ReadonlySet<string>): FetchedMedia | string {
  // The request asks for no encoding. An encoded body could have any size once decoded.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return 'has a content-encoding';
  const contentType = headers['content-type'] ?? '';
  const reported = bareMime(contentType);
  // `image/jpg` is not registered, but servers derive it from the extension.
  const mime = reported === 'image/jpg' ? 'image/jpeg' : reported;
  const found = sniffMedia(body);
  if (NO_TYPE.has(mime)) {
    return found !== undefined && types.has(found) ? { mime: found, data: body } : 'has no media type';
  }
  if (!types.has(mime)) return `is ${quoted(mime)}; the target reads ${[...types].join(', ')}`;
  if (mime === TEXT)
    return found === undefined ? readPlainText(contentType, body) : `is declared as ${TEXT} but is ${found}`;
  if (found !== mime) return `is declared as ${mime} but is ${found ?? 'of another type'}`;
  return { mime, data: body };
}

/** The server's type, which a caller reads in a message, so only a well-formed one is quoted. */
const quoted = (mime: string): string =>
  /^[a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,64}$/.test(mime) ? mime : 'of another type';

function readPlainText(contentType: string, body: Buffer): FetchedMedia | string {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(body);
    // Text has no NUL characters, and most binary files without a known signature have some.
    return text.includes('\0') ? `is declared as ${TEXT} but is binary` : { mime: TEXT, data: Buffer.from(text) };
  } catch {
    return `is declared as ${TEXT} but cannot be decoded`;
  }
}
