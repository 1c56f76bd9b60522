import type { SnapshotSource } from '../compose/snapshot-part.ts';
import type { Upgrades } from '../http/listener/upgrades.ts';
import type { ResponseStore } from '../memory/ports.ts';

/** An add-on in one process, with what it holds from one snapshot to the next. */
export interface ProcessPart extends SnapshotSource {
  /** Connections that leave HTTP. At most one add-on has it. */
  readonly upgrades?: Upgrades;
  /** The responses that requests continue. At most one add-on has it. */
  readonly responses?: ResponseStore;
  /** For dry runs: they read its state and change nothing. Default: the part itself. */
  dry?(): SnapshotSource;
  /** For config tests, which keep state and leave nothing outside of the process. Default: the part itself. */
  isolated?(): SnapshotSource;
  /** Called when the last request has ended. */
  stop?(): Promise<void> | void;
}
