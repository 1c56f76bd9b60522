import type { MediaPart, MediaSource } from '../conversation.ts';
import { compact } from '../json/object.ts';

/**
 * MIME types by file extension (docs/protocols/requests.md#mime-types). `mp4` and `webm` mean video; an audio part uses
 * `audioMime` instead. Google's names are kept where IANA's differ: only Google needs a type for a URL.
 */
const MIME_BY_EXTENSION = new Map<string, string>([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['bmp', 'image/bmp'],
  ['tiff', 'image/tiff'],
  ['tif', 'image/tiff'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['htm', 'text/html'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/mov'],
  ['avi', 'video/avi'],
  ['wmv', 'video/wmv'],
  ['flv', 'video/x-flv'],
  ['webm', 'video/webm'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpeg'],
  ['3gp', 'video/3gpp'],
  ['mkv', 'video/x-matroska'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['aac', 'audio/aac'],
  ['m4a', 'audio/m4a'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['pcm', 'audio/pcm'],
  ['mpga', 'audio/mpeg'],
  ['aiff', 'audio/aiff'],
  ['aif', 'audio/aiff'],
]);

/** `input_audio.format` → MIME (docs/protocols/requests.md#audio-formats). */
const AUDIO_BY_FORMAT = new Map<string, string>([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mp3'],
  ['opus', 'audio/ogg'],
  ['ogg', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['pcm16', 'audio/pcm'],
  ['pcm', 'audio/pcm'],
  ['aac', 'audio/aac'],
  ['m4a', 'audio/m4a'],
  ['mpeg', 'audio/mpeg'],
  ['mpga', 'audio/mpga'],
  ['mp4', 'audio/mp4'],
  ['webm', 'audio/webm'],
  ['aiff', 'audio/aiff'],
]);

const FORMAT_BY_AUDIO = new Map<string, string>([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
  ['audio/ogg', 'opus'],
  ['audio/opus', 'opus'],
  ['audio/flac', 'flac'],
  ['audio/pcm', 'pcm16'],
  ['audio/aac', 'aac'],
  ['audio/m4a', 'm4a'],
  ['audio/mpga', 'mpga'],
  ['audio/mp4', 'mp4'],
  ['audio/webm', 'webm'],
  ['audio/aiff', 'aiff'],
  ['audio/x-aiff', 'aiff'],
]);

export function audioMime(format: string): string | undefined {
  return AUDIO_BY_FORMAT.get(format.toLowerCase());
}

/** OpenAI's name of an audio type; parameters (`audio/pcm;rate=24000`) are ignored. */
export function audioFormat(mime: string): string | undefined {
  return FORMAT_BY_AUDIO.get(bareMime(mime));
}

export function bareMime(mime: string): string {
  const semicolon = mime.indexOf(';');
  return (semicolon < 0 ? mime : mime.slice(0, semicolon)).trim().toLowerCase();
}

export function mediaKind(mime: string): MediaPart['media'] {
  const kind = mime.slice(0, Math.max(0, mime.indexOf('/'))).toLowerCase();
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}

/** Types that no registry has, and clients derive from a file's name. */
const REGISTERED: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['application/x-pdf', 'application/pdf'],
]);
/** Types that object stores and browsers give to files without a type. */
export const NO_TYPE: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

export const registered = (mime: string): string => REGISTERED.get(bareMime(mime)) ?? mime;

/** Base64 of the bytes in which `sniffMedia` looks. */
const SNIFFED = 1368;

/** A part of the kind that its type says, where it has one. */
export const mediaPart = (
  kind: MediaPart['media'],
  source: MediaSource,
  { mime, ...others }: Partial<Record<'mime' | 'parameters' | 'name' | 'detail', string | undefined>>,
): MediaPart =>
  compact({ type: 'media' as const, media: mime === undefined ? kind : mediaKind(mime), mime, source, ...others });

/** The part with a registered type. Bytes without a type have that of their name or of their beginning. */
export function typed(part: MediaPart): MediaPart {
  const { mime: stated, source, name } = part;
  if (stated === undefined) return part;
  const mime =
    source.kind === 'data' && NO_TYPE.has(bareMime(stated))
      ? ((name === undefined ? undefined : mimeOfName(name)) ??
        sniffMedia(Buffer.from(source.data.slice(0, SNIFFED), 'base64')) ??
        stated)
      : registered(stated);
  return mime === stated ? part : { ...part, mime, media: mediaKind(mime) };
}

/** The first extension of a MIME type in the table, with its dot. */
export function extensionOf(mime: string): string | undefined {
  const bare = bareMime(mime);
  for (const [extension, type] of MIME_BY_EXTENSION) if (type === bare) return `.${extension}`;
  return undefined;
}

/** MIME by the extension of a file name: `report.PDF`. */
export function mimeOfName(name: string): string | undefined {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? undefined : MIME_BY_EXTENSION.get(name.slice(dot + 1).toLowerCase());
}

/**
 * MIME by the extension of the URL's path. Query and fragment are ignored: the text after the last dot of the whole URL
 * is wrong for signed URLs (`a.png?sig=x.y`). No `new URL`: `gs://` buckets may hold characters that it refuses.
 */
export function mimeOfUrl(url: string): string | undefined {
  const scheme = url.indexOf('://');
  const authority = scheme < 0 ? 0 : scheme + 3;
  const slash = url.indexOf('/', authority);
  const host = url.slice(authority, slash < 0 ? url.length : slash).toLowerCase();
  const path = slash < 0 ? '' : url.slice(slash, endOfPath(url, slash));
  // A watch page has no extension and is a video to Gemini (docs/protocols/requests.md#mime-types).
  if (/^(?:www\.|m\.)?youtube\.com$/.test(host) ? path === '/watch' : host === 'youtu.be') return 'video/mp4';
  return mimeOfName(path.slice(path.lastIndexOf('/') + 1));
}

/** Index where query or fragment begins. A URL may be as long as a body: two searches cost less than a pattern. */
export function endOfPath(url: string, from = 0): number {
  const query = url.indexOf('?', from);
  const path = query < 0 ? url : url.slice(0, query);
  const fragment = path.indexOf('#', from);
  return fragment < 0 ? path.length : fragment;
}

export interface DataUri {
  readonly mime: string | undefined;
  /** Parameters of the type, except those that name the default. */
  readonly parameters?: string;
  /** base64 */
  readonly data: string;
}

const BASE64_MARK = ';base64';

/** Longest type with its parameters: real ones have a few dozen letters (RFC 6838, section 4.2, allows 127 for each name). */
const MAX_TYPE = 1024;

/**
 * Reads `data:<mime>[;charset=…][;base64],<data>` (RFC 2397); undefined for anything else. Text becomes base64, so that
 * callers handle one form. Uses indexOf: a regular expression would walk all of an image's megabytes.
 */
export function parseDataUri(uri: string): DataUri | undefined {
  if (uri.slice(0, 5).toLowerCase() !== 'data:') return undefined;
  const comma = uri.indexOf(',');
  if (comma < 0 || comma > MAX_TYPE) return undefined;
  const head = uri.slice(5, comma);
  const base64 = head.slice(-BASE64_MARK.length).toLowerCase() === BASE64_MARK;
  const type = base64 ? head.slice(0, -BASE64_MARK.length) : head;
  const mime = bareMime(type);
  const parameters = statedParameters(type);
  const payload = uri.slice(comma + 1);
  const data = base64 ? payload : percentToBase64(payload);
  return data === undefined ? undefined : { mime: mime || undefined, data, ...(parameters && { parameters }) };
}

function statedParameters(type: string): string {
  const first = type.indexOf(';');
  if (first < 0) return '';
  const [, ...parameters] = type.split(';').map((parameter) => parameter.trim());
  return parameters
    .filter((parameter) => parameter !== '' && !/^charset="?(?:utf-?8|us-ascii)"?$/i.test(parameter))
    .join(';');
}

function percentToBase64(text: string): string | undefined {
  try {
    return Buffer.from(decodeURIComponent(text), 'utf8').toString('base64');
  } catch {
    // A stray percent sign makes the data URI unreadable.
    return undefined;
  }
}

export function toDataUri(mime: string, data: string): string {
  return `data:${mime};base64,${data}`;
}

/** First bytes of the audio containers, in base64: OpenAI's `message.audio` does not name its format. */
const AUDIO_MAGIC: readonly (readonly [string, string])[] = [
  ['UklGR', 'audio/wav'],
  ['SUQz', 'audio/mp3'],
  ['//', 'audio/mp3'],
  ['ZkxhQ', 'audio/flac'],
  ['T2dnU', 'audio/ogg'],
];

/** Type of audio by its first bytes. Headerless audio is PCM, the only such format that OpenAI sends. */
export function sniffAudioMime(base64: string): string {
  return AUDIO_MAGIC.find(([magic]) => base64.startsWith(magic))?.[1] ?? 'audio/pcm';
}

/** Signatures of the image types that Claude reads, each with its offset in the file. */
const SIGNATURES: readonly { readonly mime: string; readonly at: number; readonly bytes: Buffer }[] = [
  { mime: 'image/jpeg', at: 0, bytes: Buffer.from([0xff, 0xd8, 0xff]) },
  // PNG specification (W3C), 5.2.
  { mime: 'image/png', at: 0, bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { mime: 'image/gif', at: 0, bytes: Buffer.from('GIF87a') },
  { mime: 'image/gif', at: 0, bytes: Buffer.from('GIF89a') },
  // RFC 9649, 2.3: RIFF, the size, WEBP.
  { mime: 'image/webp', at: 8, bytes: Buffer.from('WEBP') },
];

const RIFF = Buffer.from('RIFF');
const PDF = Buffer.from('%PDF-');
/** Readers accept the header in the first 1024 bytes (ISO 32000-1, Annex H, note 13), and real files rely on that. */
const PDF_HEADER_WITHIN = 1024;

/** The type of an image or a PDF by its first bytes; undefined for anything else. */
export function sniffMedia(data: Buffer): string | undefined {
  const found = SIGNATURES.find(({ at, bytes }) => data.subarray(at, at + bytes.length).equals(bytes));
  if (found) return found.mime !== 'image/webp' || data.subarray(0, 4).equals(RIFF) ? found.mime : undefined;
  return data.subarray(0, PDF_HEADER_WITHIN).includes(PDF) ? 'application/pdf' : undefined;
}
