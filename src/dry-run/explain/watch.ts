import { toGatewayError, type Exchange, type GatewayContext, type Middleware } from '../../plugin/index.ts';
import type { ListedPlugin, Watch } from '../../compose/chain-builder.ts';
import type { SeenAttempt, PluginStep } from './observation.ts';
import type { RunNotes } from './run-notes.ts';

/** What watching a request needs to know of it. */
export interface WatchedRun extends RunNotes {
  readonly steps: PluginStep[];
}

/** Notes every plugin that a request comes to. Those that do not say that they are pure are not even made. */
export function watchPlugins(
  runOf: (exchange: Exchange) => WatchedRun,
  onListed: (place: ListedPlugin) => void,
): NonNullable<Watch['instantiate']> {
  return (place, create) => {
    onListed(place);
    const runs = place.builtin || place.plugin.pure;
    const made = runs ? create() : leftOut;
    return made instanceof Promise
      ? made.then((middleware) => watched(place, middleware, runs, runOf))
      : watched(place, made, runs, runOf);
  };
}

const leftOut: Middleware = (_, next) => next();

function watched(
  place: ListedPlugin,
  middleware: Middleware,
  run: boolean,
  runOf: (exchange: Exchange) => WatchedRun,
): Middleware {
  return async (ctx, next) => {
    const watching = runOf(ctx.exchange);
    const step: PluginStep = { place, run, attempt: ctx.attempt, running: true, words: undefined, refused: undefined };
    watching.steps.push(step);
    let behind: unknown;
    try {
      await middleware(ctx, async () => {
        look(ctx, watching);
        try {
          await next();
        } catch (thrown) {
          behind = thrown;
          throw thrown;
        }
      });
    } catch (thrown) {
      // What a plugin behind it has thrown is told there.
      if (thrown !== behind) step.refused = toGatewayError(thrown);
      throw thrown;
    } finally {
      step.running = false;
      look(ctx, watching);
      if (run) step.words = wordsOf(place, ctx);
    }
  };
}

/** A fault in what a plugin says of a request is no fault of the request. Its message may quote anything. */
function wordsOf({ plugin, options }: ListedPlugin, ctx: GatewayContext): PluginStep['words'] {
  try {
    const words: unknown = plugin.explain?.(ctx, options);
    if (!(words instanceof Promise)) return words as PluginStep['words'];
    // Nothing waits for it, so its failure has to be heard.
    words.catch(() => {});
    return { does: 'no explanation: its `explain` returned a promise' };
  } catch {
    return { does: 'cannot say: its `explain` has failed' };
  }
}

/** An attempt that fails lets go of what it was about to send: it is looked at before. */
function look({ attempt }: GatewayContext, watching: WatchedRun): void {
  if (!attempt) return;
  const seen: SeenAttempt = watching.seen(attempt);
  seen.body = attempt.body;
  seen.resolved = attempt.resolved ?? seen.resolved;
  seen.outbound = attempt.outbound ?? seen.outbound;
}
