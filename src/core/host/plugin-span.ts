import type { Clock } from '../../plugin/index.ts';
import type { HostServices } from '../../plugin/services.ts';
import { currentWork } from '../kernel/outside/plugin-work.ts';

/** Of one request, by all plugins. */
const MAX_SPANS = 100;
const PLAIN: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);
const made = new WeakMap<object, number>();

/** Spans of one plugin, each below the server span of the request that the plugin works for. */
export const pluginSpan =
  (plugin: string, clock: Pick<Clock, 'now'>): HostServices['span'] =>
  (name, work, attributes = {}) => {
    const trace = currentWork()?.exchange?.trace;
    const addSpan = trace?.addSpan;
    if (!trace || !addSpan) return work();
    const count = (made.get(trace) ?? 0) + 1;
    if (count > MAX_SPANS) return work();
    made.set(trace, count);
    const startedAt = clock.now();
    // The trace itself says that it lacks the next ones.
    const shown = count === MAX_SPANS ? 'further spans of plugins are left out' : `${plugin} ${name}`;
    const plain = Object.entries(attributes).filter(([, value]) => PLAIN.has(typeof value));
    const end = (isError: boolean): void =>
      addSpan({ name: shown, startedAt, durationMs: clock.now() - startedAt, isError, attributes: plain });
    try {
      const result = work();
      if (result instanceof Promise)
        result.then(
          () => end(false),
          () => end(true),
        );
      else end(false);
      return result;
    } catch (thrown) {
      end(true);
      throw thrown;
    }
  };
