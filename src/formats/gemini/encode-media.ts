import { Buffer } from 'node:buffer';
import type { JsonObject, MediaPart } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { endOfPath, mimeOfUrl } from '../media/media-types.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { shownText } from '../json/shown.ts';

const FETCHABLE = /^(?:gs|https?):\/\//i;

/** `inlineData` or `fileData` (docs/protocols/requests.md#media). `param` names the part in the caller's body. */
export function encodeMedia(part: MediaPart, param: BodyPlace): JsonObject {
  const { source } = part;
  switch (source.kind) {
    case 'data':
      return {
        inlineData: { mimeType: inlineType(part) ?? fail(param, 'its media type is not given'), data: source.data },
      };
    case 'text':
      return { inlineData: { mimeType: part.mime ?? 'text/plain', data: Buffer.from(source.text).toString('base64') } };
    case 'url':
      return fileData(part, source.url, param);
    case 'file':
      // A file id of another vendor means nothing to Google. Google's own file ids are URIs.
      if (!FETCHABLE.test(source.id)) fail(param, 'only files with a gs:// or https:// URI can be sent to Gemini');
      return fileData(part, source.id, param);
  }
}

/** Audio without a header has its sample rate in the parameters. For other media Google takes the bare type. */
function inlineType({ media, mime, parameters }: MediaPart): string | undefined {
  return mime && parameters && media === 'audio' ? `${mime};${parameters}` : mime;
}

/** Reports what Google does not accept: file names, and parameters of media types other than audio. */
export function reportUnsent({ name, media, parameters }: MediaPart, param: BodyPlace, losses: LossReport): void {
  if (parameters && media !== 'audio')
    losses.dropped(param, `Gemini takes media types without parameters: ${shownText(parameters)}`);
  if (name !== undefined) losses.dropped(BodyPlace.field(param, 'file.filename'), 'Gemini has no file names');
}

function fileData(part: MediaPart, uri: string, param: BodyPlace): JsonObject {
  if (!FETCHABLE.test(uri)) fail(param, 'its URL must be a data URI or begin with gs://, https:// or http://');
  const mimeType = part.mime ?? mimeByUrl(part, uri);
  if (mimeType === undefined)
    fail(param, 'its media type is not given, and the extension of its URL does not imply one');
  return { fileData: { mimeType, fileUri: uri } };
}

/** The extensions mp4 and webm mean video unless the part is audio. */
function mimeByUrl(part: MediaPart, uri: string): string | undefined {
  const mime = mimeOfUrl(uri) ?? mimeOfUrl(withPlainLetters(shortened(uri)));
  return part.media === 'audio' && mime ? mime.replace(/^video\/(?=mp4$|webm$)/, 'audio/') : mime;
}

/**
 * `a%2Epd%66` equals `a.pdf`: an encoded unreserved character is that character (RFC 3986 section 6.2.2.2). Others stay
 * encoded: no `%3F` becomes the beginning of a query. Only finds the extension; the address is sent as is.
 */
function withPlainLetters(uri: string): string {
  return uri.replace(/%[2-7][0-9a-f]/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded;
  });
}

/** Characters examined at each end of the path of a long address: host and extension are there. */
const REACH = 1024;

function shortened(uri: string): string {
  const end = endOfPath(uri);
  return end <= 2 * REACH ? uri.slice(0, end) : uri.slice(0, REACH) + uri.slice(end - REACH, end);
}

function fail(param: BodyPlace, reason: string): never {
  throw new RequestFault('invalid_value', `${String(param)} cannot be sent to Gemini: ${reason}.`, param);
}
