import { type StoredFile, isObject } from '../../../core/kernel/index.ts';
import { isOver } from '../file-ids.ts';
import type { FileStore, FileUpload, ContinuedUpload } from '../file-store.ts';
import { pendingName, stateName } from './object-names.ts';
import { S3Api, type S3Object } from './s3-api.ts';
import { isUploadId, S3Upload, isEtag, type S3Parts } from './s3-upload.ts';
import { CHUNK, continuedUpload } from '../bucket-upload.ts';

/** The state without the tail: a file of 5 GiB has 1024 parts at most. */
const MAX_STATE_BYTES = 256 * 1024;

/** All that a later request, in any process, needs: one line of JSON, and behind it the bytes that are too few for a part. */
interface S3State extends S3Parts {
  readonly filename: string;
  readonly declared: string;
  /** The file's first bytes: a part cannot be read. */
  readonly head: Buffer;
}

interface S3PiecesSetup {
  readonly api: S3Api;
  readonly publish: (
    owner: string,
    of: Pick<StoredFile, 'id' | 'bytes'>,
    ...args: Parameters<FileUpload['publish']>
  ) => Promise<StoredFile>;
}

/** Uploads in pieces: each is a multipart upload of S3, with an object for its state. */
export class S3Pieces {
  readonly #setup: S3PiecesSetup;

  constructor(setup: S3PiecesSetup) {
    this.#setup = setup;
  }

  async begin(...[owner, id, of]: Parameters<FileStore['beginInPieces']>): Promise<void> {
    const none = { head: Buffer.alloc(0), uploadId: undefined, etags: [], stored: 0, tail: Buffer.alloc(0) };
    await this.#write(owner, id, { ...of, ...none });
  }

  async resume(owner: string, id: string, now: number): Promise<ContinuedUpload | undefined> {
    const { api, publish } = this.#setup;
    const found = await this.#find(owner, id, now);
    const state = found && (await this.#read(found.name));
    if (!state) return undefined;
    const name = pendingName(owner, id);
    const upload = new S3Upload({
      api,
      name,
      parts: state,
      publish: (bytes, ...args) => publish(owner, { id, bytes }, ...args),
      remove: () => api.remove(name),
    });
    const { filename, declared, head } = state;
    return continuedUpload(
      upload,
      { filename, declared, head, received: state.stored + state.tail.length },
      {
        end: () => api.remove(found.name),
        suspend: async (kept) => {
          const parts = await upload.suspend();
          const written = await this.#write(owner, id, { filename, declared, head: kept, ...parts });
          // Of two states, the one with more bytes counts.
          if (written !== found.name) await api.remove(found.name).catch(() => {});
          return parts.stored + parts.tail.length;
        },
      },
    );
  }

  async received(owner: string, id: string, now: number): Promise<number | undefined> {
    return (await this.#find(owner, id, now))?.received;
  }

  async #find(owner: string, id: string, now: number): Promise<{ name: string; received: number } | undefined> {
    let found: { readonly of: S3Object; readonly received: number } | undefined;
    for await (const of of this.#setup.api.objects(`${owner}/${id}.upload.`))
      if (of.is.kind === 'state' && of.is.received >= (found?.received ?? 0)) found = { of, received: of.is.received };
    if (!found || isOver(id, found.of.modifiedAt, now)) return undefined;
    return { name: found.of.name, received: found.received };
  }

  async #write(owner: string, id: string, { head, tail, ...rest }: S3State): Promise<string> {
    const name = stateName(owner, id, rest.stored + tail.length);
    const line = JSON.stringify({ ...rest, head: head.toString('base64') });
    await this.#setup.api.put(name, Buffer.concat([Buffer.from(`${line}\n`), tail]));
    return name;
  }

  async #read(name: string): Promise<S3State | undefined> {
    const { api } = this.#setup;
    const maxBytes = MAX_STATE_BYTES + CHUNK;
    const { status, bytes = Buffer.alloc(0) } = await api.call(
      { method: 'GET', url: api.url(name), maxBytes },
      [200, 404],
    );
    if (status === 404) return undefined;
    const end = bytes.indexOf('\n');
    const line = api.parseJson(bytes.toString('utf8', 0, Math.max(0, end)));
    const tail = bytes.subarray(end + 1);
    if (!isStateLine(line) || tail.length > CHUNK) throw api.failed('the state of an upload is not valid');
    return { ...line, uploadId: line.uploadId, head: Buffer.from(line.head, 'base64'), tail };
  }
}

type StateLine = Omit<S3State, 'head' | 'tail' | 'uploadId'> & { readonly head: string; readonly uploadId?: string };

const isStateLine = (value: unknown): value is StateLine =>
  isObject(value) &&
  ['filename', 'declared', 'head'].every((key) => typeof value[key] === 'string') &&
  Number.isSafeInteger(value['stored']) &&
  Array.isArray(value['etags']) &&
  value['etags'].every(isEtag) &&
  (value['uploadId'] === undefined || isUploadId(value['uploadId']));
