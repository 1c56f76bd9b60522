import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import { BEGIN, CaptureStore, END } from './store.ts';
import { Watcher, type Caught, type Watched } from './watch/watcher.ts';

const CAUGHT = 'captures.caught';

/** A process that serves watches its requests; the one with the listener for operators keeps what they caught. */
export function openCaptures({ clock, role, shared, taps }: PartTools): ProcessPart {
  const store = role === 'worker' ? undefined : new CaptureStore(clock);
  const caught = (one: Caught): void => (store ? store.receive(one) : shared?.tell?.(CAUGHT, one));
  let secrets: () => readonly string[] = () => [];
  const watcher = new Watcher({ clock, taps, caught, secrets: () => secrets() });
  return {
    ...(store && { captures: store }),
    compose: ({ loaded }) => ({ use: () => void (secrets = once(() => loaded.secrets())) }),
    dry: () => ({}),
    // Questions and messages come from processes of this gateway alone: they have these types.
    asked(topic, question) {
      if (topic === BEGIN) return Promise.resolve(watcher.begin(question as Watched));
      return topic === END ? Promise.resolve(watcher.end(String(question))) : undefined;
    },
    told(topic, message) {
      if (topic === CAUGHT) store?.receive(message as Caught);
    },
    stop() {
      watcher.endAll();
      store?.clear();
    },
  };
}

/** Makes the value at its first use: most versions of the settings serve without a capture. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
