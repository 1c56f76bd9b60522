import type { Catalog } from '../../core/catalog/catalog.ts';
import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import type { Upstream } from '../../core/upstream/types.ts';
import { GatewayError, type Clock } from '../../plugin/index.ts';
import { NO_FILES } from './disabled-files.ts';
import { fakeFiles } from './fake-files.ts';
import { StoredFiles } from './file-service.ts';
import type { FileStore } from './file-store.ts';
import { FilesState } from './files-state.ts';
import { GcsFileStore } from './gcs/gcs-store.ts';
import { LocalFileStore } from './local/local-store.ts';
import { S3FileStore } from './s3/s3-store.ts';
import { compileFiles, type FilesSettings, type GcsSettings } from './settings/files.ts';
import { placeStoredFiles } from './stored-files.ts';

/** The stored files of a process. */
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
