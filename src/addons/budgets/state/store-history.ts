import type { Epoch, Loaded, Version } from '../../../core/ports/entities.ts';
import { StateFailure } from '../../../core/ports/failures.ts';

/** A place in the history of a store. An epoch is unknown where a release before epochs has written it down. */
export interface HistoryPlace {
  readonly version: Version;
  readonly epoch?: Pick<Epoch, 'id' | 'at'> | undefined;
}

/** The latest place that a gateway has seen of its store's history. */
export class StoreHistory {
  #seen: HistoryPlace | undefined;

  /** @param seen by an earlier run of the gateway */
  constructor(seen: HistoryPlace | undefined) {
    this.#seen = seen;
  }

  /** The store has lost what the gateway has seen, as after a restore or a failover, and no operator has accepted that. */
  isBehind({ version, epoch }: Pick<Loaded, 'version' | 'epoch'>): boolean {
    if (!epoch.accepted) return true;
    if (!this.#seen) return false;
    if (this.isSame(epoch)) return version < this.#seen.version;
    return epoch.at <= (this.#seen.epoch?.at ?? 0);
  }

  /** False: the versions since are others than those that the gateway has seen. */
  isSame(epoch: Pick<Epoch, 'id'>): boolean {
    const seen = this.#seen?.epoch;
    return seen === undefined || seen.id === epoch.id;
  }

  saw({ version, epoch }: HistoryPlace): void {
    this.#seen = { version, epoch };
  }

  get version(): Version {
    return this.#seen?.version ?? 0;
  }

  failureOf({ version }: Pick<Loaded, 'version'>): StateFailure {
    const seen = this.version;
    const what =
      version < seen
        ? `the store has version ${version}, and this gateway has seen version ${seen}`
        : `the store lost writes before its version ${version}`;
    return new StateFailure(
      'rolled_back',
      `${what}: keys that were revoked since would be valid again. \`gatehouse state accept-rollback\` accepts that`,
    );
  }
}
