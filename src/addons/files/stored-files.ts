import type { FormatName } from '../../formats/conversation.ts';
import type { IsStored, FileReference } from '../../formats/media/remote-media.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { Attempt, Exchange, RequestBody, ResolvedTarget, SentFile, StoredFile } from '../../core/kernel/index.ts';
import { withMedia } from '../../core/translate/media-edits.ts';
import type { FileSource } from './file-store.ts';

interface StoredFilesSetup {
  readonly files: FileSource;
  /** Counts bytes among those of the requests in flight, or returns the refusal. They are released with the exchange. */
  readonly reserve: (exchange: Exchange, bytes: number) => GatewayError | undefined;
}

/** All ids begin with it: a body without it names no stored file. */
const ID_START = Buffer.from('file-gh');

/** Replaces stored files by their address in Cloud Storage or by their bytes. Undefined when it names none. */
export function placeStoredFiles(
  exchange: Exchange,
  attempt: Attempt,
  resolved: ResolvedTarget,
  setup: StoredFilesSetup,
): Promise<RequestBody> | undefined {
  const { body } = attempt;
  if (body.edits.length === 0 && !body.original.includes(ID_START)) return undefined;
  const found = exchange.operation?.format?.media?.stored(body.json(), recogniser(setup.files)) ?? [];
  return found.length === 0 ? undefined : place(found, { exchange, attempt, resolved, setup });
}

/** An id, or the configured address with an id behind it. */
function recogniser({ url, isFileId }: FileSource): IsStored {
  return (text) => isFileId(idOf(text, url));
}

function idOf(text: string, url: string | undefined): string {
  if (url === undefined || !text.startsWith(`${url}/`)) return text;
  const rest = text.slice(url.length + 1);
  // The address of a file's content, and an extension after the id: some clients need one to infer a type.
  return rest.replace(/\/content$/, '').replace(/\.[A-Za-z0-9]{1,8}$/, '');
}

interface FileRequest {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly resolved: ResolvedTarget;
  readonly setup: StoredFilesSetup;
}

interface FilePlacement {
  readonly part: FileReference;
  readonly file: StoredFile;
  readonly way: SentFile['way'];
}

async function place(found: readonly FileReference[], placing: FileRequest): Promise<RequestBody> {
  const { attempt, exchange, resolved } = placing;
  const placed = await findFiles(found, placing);
  const contents = await readInline(placed, placing);
  const values = placed.map(({ part, file, way }) => {
    const value = way === 'uri' ? part.link(file.uri!, file.mime) : part.embed(contents.get(file.id)!);
    if (value === undefined) throw notInlinable(part, `is ${file.mime}, which this part cannot hold`);
    return [part.path, value] as const;
  });
  attempt.storedFiles = placed.map(toSentFile);
  const native = exchange.operation?.format.name === resolved.format;
  return withMedia(attempt.body, values, { native, source: 'files' });
}

const toSentFile = ({ part, file: { id, bytes, mime, uri }, way }: FilePlacement): SentFile => ({
  id,
  bytes,
  mime,
  param: part.param,
  way,
  uri,
});

async function findFiles(found: readonly FileReference[], placing: FileRequest): Promise<readonly FilePlacement[]> {
  const { exchange, resolved, setup } = placing;
  const files = new Map<string, StoredFile>();
  const placed: FilePlacement[] = [];
  for (const part of found) {
    const id = idOf(part.url, setup.files.url);
    let file = files.get(id);
    if (!file) files.set(id, (file = await find(id, part, placing)));
    placed.push({ part, file, way: file.uri !== undefined && readsBuckets(resolved) ? 'uri' : 'inline' });
  }
  exchange.cancellation.throwIfCancelled();
  return placed;
}

async function find(id: string, part: FileReference, { exchange, setup }: FileRequest): Promise<StoredFile> {
  try {
    return await setup.files.find(exchange.caller?.keyId, id, part.media);
  } catch (error) {
    // The same error as that of the file's own address, with the place in the body.
    if (error instanceof GatewayError && error.code === 'file_not_found')
      throw new GatewayError(error.code, `\`${part.param}\`: ${error.message}`, { param: part.param, cause: error });
    throw error;
  }
}

/** Only Gemini on Vertex AI reads objects of Cloud Storage (docs/protocols/files.md#cloud-storage). */
const readsBuckets = ({ format, host }: ResolvedTarget): boolean => format === 'gemini' && host === 'vertex';

/** Reads each file once, one after another. Their sum is checked before any is read. */
async function readInline(
  placed: readonly FilePlacement[],
  placing: FileRequest,
): Promise<ReadonlyMap<string, Content>> {
  const { exchange, resolved, setup, attempt } = placing;
  const { files, reserve } = setup;
  const contents = new Map<string, Content>();
  const inline = placed.filter(({ way }) => way === 'inline');
  let total = 0;
  // A file that two parts name is sent twice.
  for (const { part, file } of inline) {
    total += file.bytes;
    if (total > files.inlineBytes) throw notInlinable(part, tooLarge(file, total, files.inlineBytes));
  }
  const refused = total > 0 ? reserve(exchange, Math.ceil(total / 3) * 4) : undefined;
  if (refused) throw refused;
  for (const { file } of inline) {
    if (contents.has(file.id)) continue;
    attempt.cancellation.throwIfCancelled();
    const data = await files.readWhole(exchange.caller?.keyId, file);
    contents.set(file.id, { mime: inlineType(file.mime, resolved.format), data, name: file.filename });
  }
  return contents;
}

interface Content {
  readonly mime: string;
  readonly data: Buffer;
  readonly name: string;
}

function tooLarge(file: StoredFile, total: number, limit: number): string {
  const subject =
    total === file.bytes ? `is a file of ${file.bytes} bytes` : `brings the files of this request to ${total} bytes`;
  return `${subject}, and at most ${limit} bytes can be sent inline (files.inline_bytes). Larger files reach Gemini on Vertex AI where the gateway stores files in Google Cloud Storage (files.gcs)`;
}

/** Claude reads any text as plain text (docs/protocols/anthropic-messages.md#sources). */
const inlineType = (mime: string, format: FormatName): string =>
  format === 'anthropic-messages' && isText(mime) ? 'text/plain' : mime;

const isText = (mime: string): boolean => mime.startsWith('text/') || /^application\/(?:json|jsonl|xml)$/.test(mime);

const notInlinable = ({ param }: FileReference, why: string): GatewayError =>
  new GatewayError('file_not_inlinable', `\`${param}\` ${why}.`, { param });
