import type { Clock } from '../../../plugin/index.ts';
import type { FileObject } from '../../../core/settings/read/file-objects.ts';
import type { Explain, ExplainSource } from '../../../core/process/explain-port.ts';
import type { RecordPage, RecordQuery } from '../../../core/record/record-query.ts';
import type { Settings } from '../../../core/settings/read/load.ts';
import type { Entity, Version } from '../../budgets/store/entities.ts';
import type { StateStore } from '../../budgets/store/store.ts';

/** A state store as the admin API uses it. */
export interface ApiStore {
  /** Undefined while it does not answer. */
  readonly store: StateStore | undefined;
  /** Kinds of objects that it may hold. */
  readonly owns: readonly string[];
  /** Undefined: it is in memory. */
  readonly folder: string | undefined;
  /** Rejects with `StateFailure` while it does not answer. */
  latest(): Promise<{ readonly version: Version; readonly entities: ReadonlyMap<string, Entity> }>;
}

/** The request records as plain JSON, from this process or from all workers. */
export interface RecordSource {
  /** Rejects with `RecordsUnanswered`. */
  find(id: string): object | undefined | Promise<object | undefined>;
  /** `partial`: workers that did not answer. */
  page(query: RecordQuery): Promise<RecordPage & { readonly partial?: readonly number[] }>;
}

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
