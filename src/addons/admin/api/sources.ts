import type { Clock } from '../../../plugin/index.ts';
import type { FileObject } from '../../../core/settings/read/file-objects.ts';
import type { Explain, ExplainSource } from '../../../core/process/explain-port.ts';
import type { RecordSource } from '../../../core/record/record-query.ts';
import type { Settings } from '../../../core/settings/read/load.ts';
import type { OpenStore } from '../../../core/ports/store.ts';

/** A state store as the admin API uses it. */
export type ApiStore = Pick<OpenStore, 'store' | 'owns' | 'folder' | 'latest'>;

/** The parts of the process that the admin API reads and writes. */
export interface ApiSources {
  /** Undefined: server.yaml has no `state`. */
  readonly state: ApiStore | undefined;
  /** The settings that serve, and the objects of their files. */
  readonly inForce: () => { readonly settings: Settings; readonly objects: readonly FileObject[] };
  readonly records: RecordSource;
  /** Undefined: this build explains nothing. Of all workers, where there are any. */
  readonly explains: ExplainSource | undefined;
  readonly explain: Pick<Explain, 'readQuestion' | 'textOf'> | undefined;
  readonly clock: Clock;
}
