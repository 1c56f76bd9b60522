import type { HeaderHint } from '../http/gateway/request-path.ts';
import type { Snapshot } from '../compose/snapshot.ts';
import type { SettingsFiles } from '../settings/source/files.ts';
import type { WatchFolder } from '../settings/source/watch.ts';
import type { ProcessParts } from './process-part.ts';
import type { ProcessState } from './process-state.ts';
import type { FaultHandler } from './process-faults.ts';
import type { InForce } from './reload.ts';
import type { ProcessRole } from './running-gateway.ts';

/** A process that has its first settings and does not serve yet. */
export interface ServeParts extends ProcessParts {
  readonly processState: ProcessState;
  readonly snapshot: Snapshot;
  readonly inForce: InForce;
  readonly source: SettingsFiles;
  readonly processRole: ProcessRole;
  readonly port: number | undefined;
  readonly watchFolder: WatchFolder;
  /** Gets the hint at headers without effect. Undefined: this process logs it. */
  readonly onHint: ((hint: HeaderHint) => void) | undefined;
  /** Gets the handler of unhandled errors. */
  readonly onFaults: ((handler: FaultHandler) => void) | undefined;
}
