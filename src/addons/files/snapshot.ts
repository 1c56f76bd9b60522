import type { Catalog } from '../../core/catalog/catalog.ts';
import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import type { Upstream } from '../../core/upstream/types.ts';
import { GatewayError, type Clock } from '../../plugin/index.ts';
import { NO_FILES } from './disabled-files.ts';
import { StoredFiles } from './file-service.ts';
import type { FileStore, SweptStore, FileSource } from './file-store.ts';
import { GcsFileStore } from './gcs/gcs-store.ts';
import { LocalFileStore } from './local/local-store.ts';
import { S3FileStore } from './s3/s3-store.ts';
import { compileFiles, type FilesSettings, type GcsSettings } from './settings/files.ts';
import { placeStoredFiles } from './stored-files.ts';
import type { Logger } from 'pino';
import { Arrivals } from './arrivals.ts';
import { Uploads } from './uploads.ts';
import { Readable } from 'node:stream';
import type { FileService, StoredFile } from '../../core/kernel/index.ts';
import { createdAt, isFileId } from './file-ids.ts';
import { sourceOfPieces } from './store-failure.ts';

export function openFiles({ clock, log, metrics }: PartTools): ProcessPart {
  const state = new FilesState({ clock, log, counted: metrics.filesCounted });
  return {
    ...sourceOf(state),
    stop: () => state.stop(),
    dry: () => sourceOf(undefined),
    isolated: () => sourceOf(undefined),
  };
}

/** @param state undefined in a dry run: fakes take the place of stored files */
export const sourceOf = (state: FilesState | undefined): SnapshotSource => ({
  compose({ settings: { server }, catalog, shared: { clock, upstream, inFlight } }) {
    // Gateways that store none have no plugin for them, which would run in every request.
    if (!server.files)
      return { granted: { entry: { files: NO_FILES } }, plugins: [], use: () => state?.use(undefined) };
    const settings = compileFiles(server.files);
    const store = state && storeOf(settings, { catalog, clock, upstream });
    const source = store
      ? new StoredFiles({
          store,
          settings,
          uploads: state.uploads,
          arrivals: state.arrivals,
          // A file may take minutes: its uploads have a bound and a limit of time of their own.
          reserve: (exchange, bytes) => inFlight.reserve(exchange, bytes, { kept: true }),
          changed: (...change) => state.changed(...change),
          clock,
        })
      : fakeFiles(settings);
    const setup = { files: source, reserve: inFlight.reserve.bind(inFlight) };
    return {
      granted: { entry: { files: source } },
      plugins: [{ level: 'entry', name: 'files', before: 'body' }],
      placeFiles: (exchange, attempt, resolved) => placeStoredFiles(exchange, attempt, resolved, setup),
      use: () => state?.use(store),
    };
  },
});

interface StoreTools {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly upstream: Upstream;
}

function storeOf(settings: FilesSettings, tools: StoreTools): FileStore {
  const { place, idleMs } = settings;
  if (typeof place !== 'string')
    return 'provider' in place ? gcsStore(place, tools) : new S3FileStore({ ...place, ...tools });
  // A running upload writes at least once in `idle_time`. The clocks of machines that share a folder may differ by minutes.
  return new LocalFileStore(place, Math.max(10 * 60 * 1000, 2 * idleMs));
}

function gcsStore(settings: GcsSettings, { catalog, clock, upstream }: StoreTools): FileStore {
  const entry = catalog.bySlug.get(settings.provider.slice(1))?.provider;
  return new GcsFileStore({
    ...settings,
    clock,
    upstream,
    authorize() {
      // The settings are checked, so only an entry that could not be created is missing.
      if (!entry) throw new GatewayError('credentials_failed', `There is no catalog entry ${settings.provider}.`);
      return entry.authorize({ upstreamToken: undefined });
    },
    forget: (refused) => entry?.forgetCredentials?.(refused) ?? false,
  });
}

/** Expired files are invisible at once, so their removal can wait. */
const SWEEP_MS = 10 * 60 * 1000;

interface FilesStateSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly counted: (size: FilesSize) => void;
}

type FilesSize = Pick<SweptStore, 'files' | 'bytes'>;

const NONE: FilesSize = { files: 0, bytes: 0 };

/** The knowledge of a process about stored files besides the store: its own uploads, and when to sweep. Outlives snapshots. */
class FilesState {
  readonly uploads = new Uploads();
  readonly arrivals = new Arrivals();
  readonly #setup: FilesStateSetup;
  #store: FileStore | undefined;
  #stop: (() => void) | undefined;
  /** Size of the store at the last sweep, with this process's own changes since. */
  #size = NONE;

  constructor(setup: FilesStateSetup) {
    this.#setup = setup;
  }

  /** Called when settings go live. Sweeps at once: a crash may have left unfinished uploads. */
  use(store: FileStore | undefined): void {
    this.stop();
    this.#store = store;
    if (store) void this.#sweep(store);
    else this.#count(NONE);
  }

  /** Called after an upload (1) and after a removal (-1). Other processes count the change with their next sweep. */
  changed(files: 1 | -1, bytes: number): void {
    const { files: before, bytes: bytesBefore } = this.#size;
    this.#count({ files: Math.max(0, before + files), bytes: Math.max(0, bytesBefore + files * bytes) });
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#store = undefined;
  }

  #count(size: FilesSize): void {
    this.#size = size;
    this.#setup.counted(size);
  }

  async #sweep(store: FileStore): Promise<void> {
    const { clock, log } = this.#setup;
    try {
      const { removed, files, bytes } = await store.sweep(clock.wall());
      if (this.#store === store) this.#count({ files, bytes });
      if (removed > 0) log.info({ removed }, 'removed expired and unfinished files');
    } catch (err) {
      log.warn({ err }, 'the stored files cannot be swept');
    }
    if (this.#store === store) this.#stop = clock.after(SWEEP_MS, () => void this.#sweep(store));
  }
}

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const PDF = Buffer.from('%PDF-1.4\n%%EOF\n');

const NEW_ID = `file-gh${'0'.repeat(32)}`;

/** The files of a dry run: every id exists, as one white pixel for an image and as an empty PDF elsewhere. */
function fakeFiles({ url, inlineBytes, place }: FilesSettings): FileService & FileSource {
  const inCloudStorage = typeof place !== 'string' && 'provider' in place;
  const uri = inCloudStorage ? `gs://${place.bucket}/${place.prefix}` : undefined;
  const fileOf = (id: string, media: string): StoredFile => {
    const isImage = media === 'image';
    const filename = isImage ? 'pixel.png' : 'empty.pdf';
    const mime = isImage ? 'image/png' : 'application/pdf';
    const created = createdAt(id);
    return {
      id,
      filename,
      mime,
      bytes: contentOf(mime).length,
      purpose: 'user_data',
      createdAt: created,
      expiresAt: created,
      ...(uri !== undefined && { uri: `${uri}${id}.${isImage ? 'png' : 'pdf'}` }),
    };
  };
  const contentOf = (mime: string): Buffer => (mime === 'image/png' ? PIXEL : PDF);
  return {
    url,
    inlineBytes,
    isFileId,
    upload: () => Promise.resolve(fileOf(NEW_ID, 'document')),
    inPieces: {
      begin: () => Promise.resolve(NEW_ID),
      add: (_, id, { last }) => Promise.resolve(last ? fileOf(id, 'document') : 0),
      received: () => Promise.resolve(0),
      cancel: () => Promise.resolve(),
    },
    list: () => Promise.resolve({ files: [], hasMore: false }),
    find: (_: unknown, id: string, media: string = 'document') => Promise.resolve(fileOf(id, media)),
    content: (_, { mime }) => sourceOfPieces(Readable.from([contentOf(mime)])),
    readWhole: (_, { mime }) => Promise.resolve(contentOf(mime)),
    remove: () => Promise.resolve(),
  };
}
