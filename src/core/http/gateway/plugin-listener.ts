import { currentWork, runAs } from '../../kernel/outside/plugin-work.ts';
import { blame } from '../../kernel/outside/blame.ts';
import { contain } from '../../kernel/outside/thrown.ts';
import { Cancellation, type GatewayError } from '../../../plugin/index.ts';

/** Receives the errors that listeners throw. An error of an external plugin carries that plugin's name (blame.ts). */
export interface ListenerFaults {
  listenerFailed(error: unknown): void;
}

/** Guards a listener of the plugin that runs now: its errors would reach others, or end the process. */
export function guardedListener<T>(listener: (value: T) => void, faults: ListenerFaults): (value: T) => void {
  const work = currentWork();
  if (!work) return listener;
  const report = (thrown: unknown): void => faults.listenerFailed(blame(thrown, work.plugin));
  return (value) => contain(() => runAs(work, () => listener(value)), report);
}

/** The cancellation of a request or an attempt. Its listeners may belong to external plugins. */
export class GuardedCancellation extends Cancellation {
  readonly #faults: ListenerFaults;

  constructor(faults: ListenerFaults) {
    super();
    this.#faults = faults;
  }

  override onCancel(listener: (reason: GatewayError) => void): () => void {
    return super.onCancel(guardedListener(listener, this.#faults));
  }

  protected override listenerFailed(error: unknown): void {
    this.#faults.listenerFailed(error);
  }

  another(): GuardedCancellation {
    return new GuardedCancellation(this.#faults);
  }
}
