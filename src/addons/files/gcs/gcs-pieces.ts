import { isObject, type StoredFile } from '../../../core/kernel/index.ts';
import { isOver } from '../file-ids.ts';
import type { ContinuedUpload, FileStore, FileUpload } from '../file-store.ts';
import { continuedUpload } from '../bucket-upload.ts';
import type { GcsApi } from './gcs-api.ts';
import { GcsUpload, receivedIn } from './gcs-upload.ts';

/** The extension of no file: `extensionOf` permits letters and digits. */
const STATE = '.upload-state';
const MAX_STATE_BYTES = 16 * 1024;

const stateName = (name: string): string => `${name}${STATE}`;
export const isState = (name: string): boolean => name.endsWith(STATE);

/** A listing shows the type of an object, so that one request counts the bytes of all unfinished uploads of an owner. */
const stateType = (received: number): string => `application/json; charset=UTF-8; received=${received}`;
export const receivedBy = (type: unknown): number => Number(/; received=(\d{1,15})$/.exec(String(type))?.[1] ?? 0);

/** All that a later request, in any process, needs. The address of the session is a credential: callers never see it. */
interface UploadState {
  readonly session: string;
  readonly name: string;
  readonly filename: string;
  readonly declared: string;
  /** The file's first bytes, in base64: an unfinished object cannot be read. */
  readonly head: string;
  /** Milliseconds since 1970. */
  readonly touchedAt: number;
}

interface PiecesSetup {
  readonly api: GcsApi;
  readonly now: () => number;
  readonly nameOf: (owner: string, id: string) => string;
  readonly begin: (
    owner: string,
    id: string,
    filename: string,
  ) => Promise<{ readonly name: string; readonly session: string }>;
  readonly publish: (
    owner: string,
    of: { readonly name: string; readonly id: string; readonly bytes: number },
    ...args: Parameters<FileUpload['publish']>
  ) => Promise<StoredFile>;
  readonly remove: (name: string) => Promise<unknown>;
}

/** Uploads in pieces: each is a resumable upload of Cloud Storage, with an object for its state. */
export class GcsPieces {
  readonly #setup: PiecesSetup;

  constructor(setup: PiecesSetup) {
    this.#setup = setup;
  }

  async begin(...[owner, id, { filename, declared }]: Parameters<FileStore['beginInPieces']>): Promise<void> {
    const begun = await this.#setup.begin(owner, id, filename);
    await this.#write(owner, id, { ...begun, filename, declared, head: '', touchedAt: this.#setup.now() }, 0);
  }

  async resume(owner: string, id: string, now: number): Promise<ContinuedUpload | undefined> {
    const { api, publish, remove } = this.#setup;
    const state = await this.#read(owner, id, now);
    if (!state) return undefined;
    const received = await receivedIn(api, state.session);
    if (received === undefined) return undefined;
    const upload = new GcsUpload({
      api,
      session: state.session,
      stored: received,
      publish: (bytes, ...args) => publish(owner, { name: state.name, id, bytes }, ...args),
      remove: () => remove(state.name),
    });
    const { filename, declared } = state;
    return continuedUpload(
      upload,
      { filename, declared, received, head: Buffer.from(state.head, 'base64') },
      {
        end: () => remove(stateName(this.#setup.nameOf(owner, id))),
        suspend: async (head) => {
          const bytes = await upload.flush();
          const touchedAt = this.#setup.now();
          await this.#write(owner, id, { ...state, head: head.toString('base64'), touchedAt }, bytes);
          return bytes;
        },
      },
    );
  }

  async received(owner: string, id: string, now: number): Promise<number | undefined> {
    const state = await this.#read(owner, id, now);
    return state && receivedIn(this.#setup.api, state.session);
  }

  async #write(owner: string, id: string, state: UploadState, received: number): Promise<void> {
    const { api, nameOf } = this.#setup;
    const url = api.uploadUrl(stateName(nameOf(owner, id)), 'media');
    await api.call(
      { method: 'POST', url, headers: { 'content-type': stateType(received) }, body: JSON.stringify(state) },
      [200],
    );
  }

  async #read(owner: string, id: string, now: number): Promise<UploadState | undefined> {
    const { api, nameOf } = this.#setup;
    const url = api.objectUrl(stateName(nameOf(owner, id)), '?alt=media');
    const headers = { range: `bytes=0-${MAX_STATE_BYTES - 1}` };
    const { status, bytes } = await api.call(
      { method: 'GET', url, headers, maxBytes: MAX_STATE_BYTES },
      [200, 206, 404],
    );
    if (status === 404) return undefined;
    const state = api.parseJson(bytes?.toString('utf8'));
    if (!isUploadState(state)) throw api.failed('the state of an upload is not valid');
    return isOver(id, state.touchedAt, now) ? undefined : state;
  }
}

const isUploadState = (value: unknown): value is UploadState =>
  isObject(value) &&
  ['session', 'name', 'filename', 'declared', 'head'].every((key) => typeof value[key] === 'string') &&
  typeof value['touchedAt'] === 'number';
