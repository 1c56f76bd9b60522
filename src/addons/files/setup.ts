import type { Clock, GatewayError } from '../../plugin/index.ts';
import type { Exchange, FileLimits } from '../../core/kernel/index.ts';
import type { FileStore } from './file-store.ts';
import type { Arrivals } from './arrivals.ts';
import type { Uploads } from './uploads.ts';

/** Limits and times of the service. The compiled `files` of server.yaml has them, and the place of the files. */
export interface FileServiceLimits {
  /** Limits of keys without their own. */
  readonly limits: FileLimits;
  readonly url: string | undefined;
  readonly inlineBytes: number;
  readonly idleMs: number;
  readonly uploads: number;
  /** Uploads of one key that have begun and not ended. */
  readonly unfinished: number;
}

export interface FileServiceSetup {
  readonly store: FileStore;
  readonly settings: FileServiceLimits;
  readonly uploads: Uploads;
  readonly arrivals: Arrivals;
  /** Counts bytes among those of the requests in flight, or returns the refusal. They are released with the exchange. */
  readonly reserve: (exchange: Exchange, bytes: number) => GatewayError | undefined;
  /** Called after an upload (1) and after a removal (-1). */
  readonly changed: (files: 1 | -1, bytes: number) => void;
  readonly clock: Clock;
}
