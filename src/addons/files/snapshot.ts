import type { Catalog } from '../../core/catalog/catalog.ts';
import { NO_FILES } from './disabled-files.ts';
import { StoredFiles } from './file-service.ts';
import type { FileServiceSetup } from './setup.ts';
import type { FilesState } from './files-state.ts';
import { GcsFileStore } from './gcs/gcs-store.ts';
import { LocalFileStore } from './local/local-store.ts';
import { fakeFiles } from './fake-files.ts';
import { GatewayError, type Clock } from '../../plugin/index.ts';
import type { FileService } from '../../core/kernel/index.ts';
import type { BucketSettings, FilesSettings } from './settings/files.ts';
import type { FileSource, FileStore } from './file-store.ts';
import type { Upstream } from '../../core/upstream/types.ts';

interface FilesTools {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly upstream: Upstream;
  /** Undefined in a dry run, which stores nothing. */
  readonly state: FilesState | undefined;
  readonly reserve: FileServiceSetup['reserve'];
}

export interface ComposedFiles {
  readonly service: FileService;
  /** The files that requests may name; undefined where the gateway stores none. */
  readonly source: FileSource | undefined;
  /** Undefined where there is nothing to sweep. */
  readonly store: FileStore | undefined;
}

/** The files of these settings: stored, disabled, or replaced by fakes. */
export function composeFiles(files: FilesSettings | undefined, tools: FilesTools): ComposedFiles {
  if (!files) return { service: NO_FILES, source: undefined, store: undefined };
  const { place } = files;
  if (!tools.state) {
    const uri = typeof place === 'string' ? undefined : `gs://${place.bucket}/${place.prefix}`;
    const fakes = fakeFiles({ url: files.url, inlineBytes: files.inlineBytes, uri });
    return { service: fakes, source: fakes, store: undefined };
  }
  const store =
    typeof place === 'string' ? new LocalFileStore(place, remainsMs(files)) : createBucketStore(place, tools);
  const { state, clock, reserve } = tools;
  const { uploads, arrivals } = state;
  const changed: FilesState['changed'] = (...change) => state.changed(...change);
  const stored = new StoredFiles({ store, settings: files, uploads, arrivals, reserve, changed, clock });
  return { service: stored, source: stored, store };
}

/** A running upload writes at least once in `idle_time`. The clocks of machines that share a folder may differ by minutes. */
const remainsMs = ({ idleMs }: Pick<FilesSettings, 'idleMs'>): number => Math.max(10 * 60 * 1000, 2 * idleMs);

function createBucketStore(settings: BucketSettings, { catalog, clock, upstream }: FilesTools): FileStore {
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
