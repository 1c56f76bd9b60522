import type { SnapshotSource } from '../compose/snapshot-part.ts';
import type { Upgrades } from '../http/listener/upgrades.ts';
import type { RecordStore } from '../record/store.ts';
import type { Explain } from './explain-port.ts';
import type { ProcessParts } from './process-state.ts';
import type { ResponseStore } from '../memory/ports.ts';

/** An add-on in one process, with what it holds from one snapshot to the next. */
export interface ProcessPart extends SnapshotSource {
  /** Connections that leave HTTP. At most one add-on has it. */
  readonly upgrades?: Upgrades;
  /** The responses that requests continue. At most one add-on has it. */
  readonly responses?: ResponseStore;
  /** At most one add-on has it. */
  readonly explain?: Explain;
  /** For dry runs: they read its state and change nothing. Default: the part itself. */
  dry?(): SnapshotSource;
  /** For config tests, which keep state and leave nothing outside of the process. Default: the part itself. */
  isolated?(): SnapshotSource;
  /** Called when the last request has ended. */
  stop?(): Promise<void> | void;
}

/** From these an add-on opens its part of a process. */
export interface PartTools extends ProcessParts {
  readonly records: RecordStore;
  /** All add-ons of the process, for dry runs. */
  readonly dry: () => readonly SnapshotSource[];
}

/** A port that at most one add-on fills. Undefined: this build lacks it. */
export const portOf = <K extends 'upgrades' | 'responses' | 'explain'>(
  parts: readonly ProcessPart[],
  key: K,
): ProcessPart[K] | undefined => parts.find((part) => part[key] !== undefined)?.[key];
