import type { Clock, FileLimits } from '../plugin/index.ts';
import type { FileStore } from '../state/file-store.ts';
import type { Uploads } from './uploads.ts';

/** `files` of server.yaml, as far as the service needs it. */
export interface FileSettings {
  /** Limits of keys without their own. */
  readonly limits: FileLimits;
  readonly url: string | undefined;
  readonly inlineBytes: number;
  readonly idleMs: number;
  readonly uploads: number;
}

export interface FileServiceSetup {
  readonly store: FileStore;
  readonly settings: FileSettings;
  readonly uploads: Uploads;
  readonly clock: Clock;
}
