import {
  GatewayError,
  type FilePage,
  type FileQuery,
  type GatewayContext,
  type StoredFile,
  type WholeFile,
} from '../../src/plugin/index.ts';
import { Query } from './query.ts';

/** docs/protocols/files.md#google */
const DEFAULT_SIZE = 10;
const MAX_SIZE = 100;
/** Longest body of a request that begins an upload: the file's name and type. */
const MAX_START_BYTES = 16 * 1024;

const NAME = 'files/';
/** Parameter of an upload's address with what its first request said. */
const TOKEN = 'upload_id';

export function readGeminiQuery(text: string): FileQuery {
  const query = new Query(text);
  const limit = query.number('pageSize', { byDefault: DEFAULT_SIZE, max: MAX_SIZE });
  return { limit, after: query.text('pageToken'), newestFirst: true };
}

/** The address of a file holds its id, by which later requests name it. */
export function toGeminiFile(file: StoredFile, ctx: GatewayContext): object {
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

export const toGeminiPage = ({ files, hasMore }: FilePage, ctx: GatewayContext): object => ({
  files: files.map((file) => toGeminiFile(file, ctx)),
  ...(hasMore && { nextPageToken: files.at(-1)?.id }),
});

/** As the caller reaches the gateway: a proxy in front of it may end TLS. HTTP/1.1 requires `host` (RFC 9112, section 3.2). */
function originOf({ req: { headers } }: GatewayContext): string {
  return `${headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
}

/** One request of a resumable upload: it begins one, or it brings the file. */
export type UploadStep =
  | { readonly step: 'start'; readonly headers: Readonly<Record<string, string>> }
  | { readonly step: 'bytes'; readonly file: WholeFile };

/** Throws GatewayError. */
export async function readUploadStep(ctx: GatewayContext): Promise<UploadStep> {
  const command = header(ctx, 'x-goog-upload-command') ?? '';
  const commands = command.split(',').map((word) => word.trim().toLowerCase());
  if (commands.includes('start')) {
    const token = Buffer.from(JSON.stringify(await readStart(ctx))).toString('base64url');
    const url = `${originOf(ctx)}${ctx.exchange.request.path}?${TOKEN}=${token}&upload_protocol=resumable`;
    return { step: 'start', headers: { 'x-goog-upload-status': 'active', 'x-goog-upload-url': url } };
  }
  if (!commands.includes('upload'))
    throw invalid('x-goog-upload-command', 'must be `start`, or `upload, finalize` with the bytes');
  const offset = header(ctx, 'x-goog-upload-offset') ?? '0';
  // The bytes of one request go to the store as they arrive; none are kept for a later one.
  if (!commands.includes('finalize') || offset !== '0')
    throw new GatewayError(
      'not_supported',
      'The gateway takes a file in one piece: send `upload, finalize` with all bytes (a chunk size above the size of the file).',
    );
  return { step: 'bytes', file: readToken(new URLSearchParams(ctx.querystring).get(TOKEN)) };
}

async function readStart(ctx: GatewayContext): Promise<WholeFile> {
  const { file = {} } = Object(await readSmallJson(ctx)) as { file?: unknown };
  const {
    displayName,
    display_name: name = displayName,
    mimeType,
    mime_type: mime = mimeType,
  } = Object(file) as Record<string, unknown>;
  const declared = header(ctx, 'x-goog-upload-header-content-type') ?? mime;
  const filename = name ?? header(ctx, 'x-goog-upload-file-name');
  return {
    filename: typeof filename === 'string' ? filename : '',
    declared: typeof declared === 'string' ? declared : 'application/octet-stream',
  };
}

async function readSmallJson({ req, exchange }: GatewayContext): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of req.iterator({ destroyOnReturn: false })) {
    bytes += (piece as Buffer).length;
    if (bytes > MAX_START_BYTES)
      throw new GatewayError('request_too_large', `The start of an upload exceeds ${MAX_START_BYTES} bytes.`);
    pieces.push(piece as Buffer);
  }
  exchange.request.bodyBytes = bytes;
  if (bytes === 0) return {};
  try {
    return JSON.parse(Buffer.concat(pieces).toString());
  } catch (cause) {
    throw new GatewayError('invalid_json', 'The start of an upload is not valid JSON.', { cause });
  }
}

function readToken(token: string | null): WholeFile {
  try {
    const { filename, declared } = Object(JSON.parse(Buffer.from(token ?? '', 'base64url').toString())) as Record<
      string,
      unknown
    >;
    if (typeof filename === 'string' && typeof declared === 'string') return { filename, declared };
  } catch {
    // Reported below: the text is not one that the gateway has made.
  }
  throw invalid(TOKEN, 'is not that of an upload; begin one with the command `start`');
}

const header = ({ req }: GatewayContext, name: string): string | undefined => req.headers[name]?.toString();

const invalid = (param: string, why: string): GatewayError =>
  new GatewayError('invalid_value', `\`${param}\` ${why}.`, { param });
