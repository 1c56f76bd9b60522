import { currentWork, runAs } from '../chain/plugin-work.ts';
import { blame } from '../plugin/blame.ts';
import { Cancellation, type GatewayError } from '../plugin/index.ts';

/** Hears what a listener threw; of a plugin from outside it is an error with that plugin's name (blame.ts). */
export interface ListenerFaults {
  listenerFailed(error: unknown): void;
}

/**
 * A listener of the plugin that runs now. What it throws reaches neither the other listeners nor the code that calls them, which may
 * be an event of the client's socket: the end of the process. The gateway's own listeners stay as they are.
 */
export function guardedListener<T>(listener: (value: T) => void, faults: ListenerFaults): (value: T) => void {
  const work = currentWork();
  if (!work) return listener;
  const report = (thrown: unknown): void => faults.listenerFailed(blame(thrown, work.plugin));
  return (value) => {
    try {
      // An async listener gives a promise, whatever its type says.
      const result: unknown = runAs(work, () => listener(value));
      if (result instanceof Promise) result.catch(report);
    } catch (thrown) {
      report(thrown);
    }
  };
}

/** The cancellation of a request or an attempt, whose listeners may be those of plugins from outside. */
export class GuardedCancellation extends Cancellation {
  readonly #faults: ListenerFaults;

  constructor(faults: ListenerFaults) {
    super();
    this.#faults = faults;
  }

  override onCancel(listener: (reason: GatewayError) => void): () => void {
    return super.onCancel(guardedListener(listener, this.#faults));
  }

  /** One of its own for a part of the same request. */
  another(): GuardedCancellation {
    return new GuardedCancellation(this.#faults);
  }
}
