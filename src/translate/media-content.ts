import { bareMime } from '../formats/media/media-types.ts';
import { sniffMedia } from '../formats/media/magic.ts';
import type { FetchedMedia } from '../formats/media/remote-media.ts';
import type { Download } from '../upstream/types.ts';

/** What object stores say of files whose type nobody told them. */
const NO_TYPE: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

const TEXT = 'text/plain';

/**
 * What was fetched, as what it says it is and is: the type is the server's word, and the first bytes must agree, or a page of
 * HTML with `image/png` above it would reach the model. Gives the words that follow `it` where it cannot be used.
 */
export function readMedia({ headers, body }: Download, types: ReadonlySet<string>): FetchedMedia | string {
  // We ask for none; what comes nevertheless could be of any size.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return 'has a content-encoding';
  const contentType = headers['content-type'] ?? '';
  const reported = bareMime(contentType);
  // No registered type, but servers make it of the extension.
  const mime = reported === 'image/jpg' ? 'image/jpeg' : reported;
  const found = sniffMedia(body);
  if (NO_TYPE.has(mime)) {
    return found !== undefined && types.has(found) ? { mime: found, data: body } : 'has no media type';
  }
  if (!types.has(mime)) return `is ${quoted(mime)}; the target reads ${[...types].join(', ')}`;
  if (mime === TEXT)
    return found === undefined ? readPlainText(contentType, body) : `is said to be ${TEXT} and is ${found}`;
  if (found !== mime) return `is said to be ${mime} and is ${found ?? 'something else'}`;
  return { mime, data: body };
}

/** A server's own words, in a message that a caller reads. */
const quoted = (mime: string): string =>
  /^[a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,64}$/.test(mime) ? mime : 'of another type';

function readPlainText(contentType: string, body: Buffer): FetchedMedia | string {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(body);
    // No text has them, and every other file nobody has a name for does.
    return text.includes('\0')
      ? `is said to be ${TEXT} and is something else`
      : { mime: TEXT, data: Buffer.from(text) };
  } catch {
    return `is said to be ${TEXT}, and is not readable as such`;
  }
}
