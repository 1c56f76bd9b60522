import type { PartTools } from '../../../core/process/process-part.ts';
import type { OpenStore, RolledBack } from '../../../core/ports/store.ts';

const LOOK_MS = 5_000;

/** Raises an alert when the state store is behind what this gateway has seen of it: once for all gateways that find the same. */
export class RollbackAlert {
  readonly #tools: Pick<PartTools, 'clock' | 'port'>;
  readonly #state: Pick<OpenStore, 'rolledBack'>;
  #raised: RolledBack | undefined;
  #stopTimer: () => void;

  constructor(tools: Pick<PartTools, 'clock' | 'port'>, state: Pick<OpenStore, 'rolledBack'>) {
    this.#tools = tools;
    this.#state = state;
    this.#stopTimer = tools.clock.after(LOOK_MS, () => this.#look());
  }

  stop(): void {
    this.#stopTimer();
  }

  #look(): void {
    const { clock, port } = this.#tools;
    this.#stopTimer = clock.after(LOOK_MS, () => this.#look());
    const { rolledBack } = this.#state;
    const alerts = port('alerts');
    if (rolledBack && rolledBack !== this.#raised)
      alerts?.raise({
        kind: 'rolled_back',
        nodes: [],
        text: `The state store went back: ${rolledBack.reason}.`,
        data: { found: rolledBack.found, seen: rolledBack.seen },
        once: { counter: { node: `alert rolled_back ${rolledBack.seen} ${rolledBack.found}`, period: 0 }, bits: [0] },
      });
    this.#raised = rolledBack;
  }
}
