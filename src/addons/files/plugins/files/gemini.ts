import { bodyPieces } from '../../../../../plugins/body/pieces.ts';
import {
  PIECE_UNIT,
  UPLOAD_ID,
  Query,
  type AnnouncedFile,
  type FilePage,
  type FilePiece,
  type FileQuery,
  type GatewayContext,
  type StoredFile,
} from '../../../../core/kernel/index.ts';
import { GatewayError, type Clock } from '../../../../plugin/index.ts';
import type { FilesApi } from './files-api.ts';

/** docs/protocols/files.md#google */
const DEFAULT_SIZE = 10;
const MAX_SIZE = 100;
/** Longest body of a request that begins an upload: the file's name and type. */
const MAX_START_BYTES = 16 * 1024;
/** Longest time between two pieces of it, and of all before the last one. `limits.body_time` does not apply to uploads. */
const MAX_START_MS = 10_000;

const NAME = 'files/';
const LENGTH = 'x-goog-upload-header-content-length';
const COMMAND = 'x-goog-upload-command';
const OFFSET = 'x-goog-upload-offset';
const STATUS = 'x-goog-upload-status';
const RECEIVED = 'x-goog-upload-size-received';

/** RFC 6838, section 4.2: at most 127 characters on either side of the slash. */
const MAX_TYPE = 255;

function readQuery(text: string): FileQuery {
  const query = new Query(text);
  const limit = query.number('pageSize', { byDefault: DEFAULT_SIZE, max: MAX_SIZE });
  return { limit, after: query.text('pageToken'), newestFirst: true };
}

/** The address of a file holds its id, by which later requests name it. */
function toFile(file: StoredFile, ctx: GatewayContext): object {
  const { id, filename, mime, bytes, createdAt, expiresAt } = file;
  const created = new Date(createdAt).toISOString();
  return {
    name: NAME + id,
    displayName: filename,
    mimeType: mime,
    sizeBytes: String(bytes),
    createTime: created,
    updateTime: created,
    expirationTime: new Date(expiresAt).toISOString(),
    uri: `${originOf(ctx)}/v1beta/${NAME}${id}`,
    state: 'ACTIVE',
    source: 'UPLOADED',
  };
}

const toPage = ({ files, hasMore }: FilePage, ctx: GatewayContext): object => ({
  files: files.map((file) => toFile(file, ctx)),
  ...(hasMore && { nextPageToken: files.at(-1)?.id }),
});

export const GEMINI: FilesApi = { readQuery, toFile, toPage, removed: () => ({}) };

/** As the caller reaches the gateway: a proxy in front of it may end TLS. HTTP/1.1 requires `host` (RFC 9112, section 3.2). */
function originOf({ req: { headers } }: GatewayContext): string {
  return `${headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
}

/** One request of a resumable upload (docs/protocols/files.md#google). */
type UploadStep =
  | { readonly step: 'start'; readonly file: AnnouncedFile }
  | { readonly step: 'upload'; readonly id: string; readonly piece: FilePiece }
  | { readonly step: 'query'; readonly id: string }
  | { readonly step: 'cancel'; readonly id: string };

/** Throws GatewayError. */
export async function readUploadStep(ctx: GatewayContext, clock: Clock): Promise<UploadStep> {
  const command = (header(ctx, COMMAND) ?? '')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .toSorted()
    .join();
  const id = new URLSearchParams(ctx.querystring).get(UPLOAD_ID);
  // The address of an upload holds a credential for this upload alone.
  if (command === 'start' && id !== null) throw invalid(UPLOAD_ID, 'names an upload that has begun');
  if (command === 'start') return { step: 'start', file: await readStart(ctx, clock) };
  if (id === null) throw invalid(UPLOAD_ID, 'is missing; begin an upload with the command `start`');
  if (command === 'query') return { step: 'query', id };
  if (command === 'cancel') return { step: 'cancel', id };
  const last = command.startsWith('finalize');
  if (command !== 'upload' && command !== 'finalize' && command !== 'finalize,upload')
    throw invalid(COMMAND, 'must be `start`, `upload`, `finalize`, `upload, finalize`, `query` or `cancel`');
  const offset = header(ctx, OFFSET) ?? '';
  if (!/^\d{1,15}$/.test(offset)) throw invalid(OFFSET, 'must be where the bytes begin in the file');
  return { step: 'upload', id, piece: { offset: Number(offset), last } };
}

/** @param grant the credential of requests that come without the key. The listener takes `key` out of every address before anything reads it. */
export function startedUpload(
  id: string,
  ctx: GatewayContext,
  grant: string | undefined,
): Readonly<Record<string, string>> {
  const credential = grant === undefined ? '' : `&key=${grant}`;
  const url = `${originOf(ctx)}${ctx.exchange.request.path}?${UPLOAD_ID}=${id}&upload_protocol=resumable${credential}`;
  return {
    ...activeUpload(0),
    'x-goog-upload-url': url,
    'x-goog-upload-control-url': url,
    'x-goog-upload-chunk-granularity': String(PIECE_UNIT),
  };
}

export const activeUpload = (received: number): Readonly<Record<string, string>> => ({
  [STATUS]: 'active',
  [RECEIVED]: String(received),
});

export const endedUpload = ({ bytes }: StoredFile): Readonly<Record<string, string>> => ({
  [STATUS]: 'final',
  [RECEIVED]: String(bytes),
});

export const CANCELLED_UPLOAD: Readonly<Record<string, string>> = { [STATUS]: 'cancelled' };

async function readStart(ctx: GatewayContext, clock: Clock): Promise<AnnouncedFile> {
  const { file = {} } = Object(await readSmallJson(ctx, clock)) as { file?: unknown };
  const {
    displayName,
    display_name: name = displayName,
    mimeType,
    mime_type: mime = mimeType,
  } = Object(file) as Record<string, unknown>;
  const declared = header(ctx, 'x-goog-upload-header-content-type') ?? mime;
  const filename = name ?? header(ctx, 'x-goog-upload-file-name');
  const length = header(ctx, LENGTH);
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw new GatewayError('invalid_value', `\`${LENGTH}\` must be the number of bytes of the file.`, {
      param: LENGTH,
    });
  return {
    filename: typeof filename === 'string' ? filename : '',
    declared: typeof declared === 'string' ? declared.slice(0, MAX_TYPE) : 'application/octet-stream',
    bytes: length === undefined ? undefined : Number(length),
  };
}

async function readSmallJson(ctx: GatewayContext, clock: Clock): Promise<unknown> {
  const limit = { clock, idleMs: MAX_START_MS, setting: 'a fixed limit', what: 'start of an upload' };
  const read = bodyPieces(ctx, limit);
  const latest = clock.now() + MAX_START_MS;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (let piece = await read(); piece; piece = await read()) {
    bytes += piece.length;
    if (bytes > MAX_START_BYTES)
      throw new GatewayError('request_too_large', `The start of an upload exceeds ${MAX_START_BYTES} bytes.`);
    if (clock.now() > latest)
      throw new GatewayError('request_timeout', `The start of an upload took longer than ${MAX_START_MS} ms.`);
    pieces.push(piece);
  }
  ctx.exchange.request.bodyBytes = bytes;
  if (bytes === 0) return {};
  try {
    return JSON.parse(Buffer.concat(pieces).toString());
  } catch (cause) {
    throw new GatewayError('invalid_json', 'The start of an upload is not valid JSON.', { cause });
  }
}

const header = ({ req }: GatewayContext, name: string): string | undefined => req.headers[name]?.toString();

const invalid = (param: string, why: string): GatewayError =>
  new GatewayError('invalid_value', `\`${param}\` ${why}.`, { param });
