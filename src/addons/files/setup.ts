import type { Clock, GatewayError } from '../../plugin/index.ts';
import type { Exchange, FileLimits } from '../../core/kernel/index.ts';
import type { FileEntry, FileStore } from './file-store.ts';
import type { Arrivals } from './arrivals.ts';
import type { FilesSettings } from './settings/files.ts';
import type { Uploads } from './uploads.ts';

export interface FileServiceSetup {
  readonly store: FileStore;
  readonly settings: FilesSettings;
  readonly uploads: Uploads;
  readonly arrivals: Arrivals;
  /** Counts bytes among those of the requests in flight, or returns the refusal. They are released with the exchange. */
  readonly reserve: (exchange: Exchange, bytes: number) => GatewayError | undefined;
  /** Called after an upload (1) and after a removal (-1). */
  readonly changed: (files: 1 | -1, bytes: number) => void;
  readonly clock: Clock;
}

export interface Owned {
  readonly owner: string;
  readonly limits: FileLimits;
  readonly present: () => Promise<readonly FileEntry[]>;
}
