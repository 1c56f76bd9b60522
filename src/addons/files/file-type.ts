import { bareMime, mimeOfName, sniffMedia } from '../../formats/media/media-types.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { FilePurpose } from '../../core/kernel/index.ts';

export const HEAD_BYTES = 1024;

/** Containers by their first bytes, and the types that are stored in each. Audio and video share containers. */
const CONTAINERS: readonly { readonly at: number; readonly bytes: Buffer; readonly types: readonly string[] }[] = [
  {
    at: 4,
    bytes: Buffer.from('ftyp'),
    types: [
      'video/mp4',
      'audio/m4a',
      'audio/mp4',
      'video/mov',
      'video/quicktime',
      'video/3gpp',
      'image/heic',
      'image/heif',
    ],
  },
  { at: 0, bytes: Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), types: ['video/webm', 'audio/webm', 'video/x-matroska'] },
  { at: 0, bytes: Buffer.from('OggS'), types: ['audio/ogg', 'audio/opus', 'video/ogg'] },
  { at: 8, bytes: Buffer.from('WAVE'), types: ['audio/wav', 'audio/x-wav', 'audio/wave'] },
  { at: 8, bytes: Buffer.from('AVI '), types: ['video/avi', 'video/x-msvideo'] },
  { at: 8, bytes: Buffer.from('AIFF'), types: ['audio/aiff', 'audio/x-aiff'] },
  { at: 8, bytes: Buffer.from('AIFC'), types: ['audio/aiff', 'audio/x-aiff'] },
  { at: 0, bytes: Buffer.from('fLaC'), types: ['audio/flac'] },
  { at: 0, bytes: Buffer.from('ID3'), types: ['audio/mp3', 'audio/mpeg', 'audio/mpga', 'audio/aac', 'audio/flac'] },
  { at: 0, bytes: Buffer.from('BM'), types: ['image/bmp'] },
  { at: 0, bytes: Buffer.from('II*\0'), types: ['image/tiff'] },
  { at: 0, bytes: Buffer.from('MM\0*'), types: ['image/tiff'] },
  { at: 0, bytes: Buffer.from('PK\u0003\u0004'), types: ['application/zip'] },
];

/** Types whose files always begin with their signature. A file without it is of another type. */
const SIGNED: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'application/pdf',
  ...CONTAINERS.flatMap(({ types }) => types).filter(
    (type) => !['audio/mp3', 'audio/mpeg', 'audio/mpga', 'audio/aac', 'video/mov', 'video/quicktime'].includes(type),
  ),
]);

/** Types that the table of media has no extension for. */
const MORE_EXTENSIONS = new Map([
  ['json', 'application/json'],
  ['jsonl', 'application/jsonl'],
  ['xml', 'application/xml'],
]);

const TEXTS: ReadonlySet<string> = new Set(MORE_EXTENSIONS.values());

/** The types that callers and their libraries declare for a file of unknown type. */
const UNDECLARED: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

const SYNONYMS = new Map([
  ['image/jpg', 'image/jpeg'],
  ['application/x-pdf', 'application/pdf'],
]);

export interface NamedFile {
  readonly filename: string;
  readonly declared: string;
  readonly purpose: FilePurpose;
}

/**
 * The type of a file: by its name, else as declared, else by its first bytes. The first bytes must agree with both claims: a model would
 * get a page of HTML as an image otherwise. Throws GatewayError.
 * @param head the first `HEAD_BYTES` bytes
 */
export function checkType(head: Buffer, { filename, declared, purpose }: NamedFile): string {
  const written = bareMime(declared);
  const ofPart = UNDECLARED.has(written) ? undefined : (SYNONYMS.get(written) ?? written);
  const ofName = typeOfName(filename);
  const found = typesOf(head);
  for (const [claim, words] of [
    [ofName, 'named'],
    [ofPart, 'declared'],
  ] as const) {
    const fault = claim === undefined ? undefined : contradiction(claim, found, head);
    if (fault !== undefined)
      throw new GatewayError('invalid_value', `\`file\` is ${words} as ${shown(claim!)}, but ${fault}.`, {
        param: 'file',
      });
  }
  const mime = ofName ?? ofPart ?? found?.[0] ?? 'application/octet-stream';
  if (!/^[a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,64}$/.test(mime))
    throw new GatewayError('invalid_value', '`file` is declared with a type that is not a MIME type.', {
      param: 'file',
    });
  if (purpose === 'vision' && !mime.startsWith('image/'))
    throw new GatewayError('invalid_value', `\`file\` is ${mime}; files with the purpose \`vision\` are images.`, {
      param: 'file',
    });
  return mime;
}

const typeOfName = (filename: string): string | undefined =>
  mimeOfName(filename) ?? MORE_EXTENSIONS.get(filename.slice(filename.lastIndexOf('.') + 1).toLowerCase());

/** The types that the first bytes allow; undefined where they are no known signature. */
function typesOf(head: Buffer): readonly string[] | undefined {
  const media = sniffMedia(head);
  if (media !== undefined) return [media];
  return CONTAINERS.find(({ at, bytes }) => head.subarray(at, at + bytes.length).equals(bytes))?.types;
}

const PDF_START = Buffer.from('%PDF-');

function contradiction(claim: string, found: readonly string[] | undefined, head: Buffer): string | undefined {
  if (found?.includes(claim)) return undefined;
  if (claim.startsWith('text/') || TEXTS.has(claim)) {
    // A text may begin with the letters `BM`, or quote a PDF. Only binary files have NUL characters.
    if (head.includes(0) && !isUtf16(head)) return 'its first bytes are binary';
    return head.subarray(0, PDF_START.length).equals(PDF_START) ? 'its first bytes are those of a PDF' : undefined;
  }
  if (found && /^(?:image|audio|video)\/|^application\/pdf$/.test(claim))
    return `its first bytes are those of ${found[0]}`;
  return SIGNED.has(claim) ? 'its first bytes are of another type' : undefined;
}

const isUtf16 = (head: Buffer): boolean =>
  head.length > 1 && ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff));

const shown = (mime: string): string => (/^[\w.+/-]{1,129}$/.test(mime) ? mime : 'another type');
