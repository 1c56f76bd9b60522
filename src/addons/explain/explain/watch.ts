import { toGatewayError, type Exchange, type GatewayContext, type Middleware } from '../../../core/kernel/index.ts';
import { toMiddleware } from '../../../core/kernel/define.ts';
import type { ListedPlugin, Watch } from '../../../core/compose/chain-builder.ts';
import { HeaderWatch } from './header-watch.ts';
import type { PluginStep, ExplainedRun } from './observation.ts';

/** Records every plugin that a request reaches. Plugins that are not declared pure are not even created. */
export function watchPlugins(
  runOf: (exchange: Exchange) => ExplainedRun,
  onListed: (place: ListedPlugin) => void,
): NonNullable<Watch['instantiate']> {
  return (place, create) => {
    onListed(place);
    const runs = place.builtin || place.plugin.pure;
    const made = runs ? create() : leftOut;
    return made instanceof Promise
      ? made.then((middleware) => watched(place, toMiddleware(middleware), runs, runOf))
      : watched(place, toMiddleware(made), runs, runOf);
  };
}

const leftOut: Middleware = (_, next) => next();

function watched(
  place: ListedPlugin,
  middleware: Middleware,
  run: boolean,
  runOf: (exchange: Exchange) => ExplainedRun,
): Middleware {
  return async (ctx, next) => {
    const watching = runOf(ctx.exchange);
    const step: PluginStep = { place, run, attempt: ctx.attempt, running: true, words: undefined, refused: undefined };
    watching.steps.push(step);
    const headers = new HeaderWatch(place, ctx, watching);
    let thrownLater: unknown;
    try {
      await middleware(ctx, async () => {
        look(ctx, watching);
        headers.pause();
        try {
          await next();
        } catch (thrown) {
          thrownLater = thrown;
          throw thrown;
        } finally {
          headers.resume();
        }
      });
    } catch (thrown) {
      // An error of a later plugin is recorded at that plugin.
      if (thrown !== thrownLater) step.refused = toGatewayError(thrown);
      throw thrown;
    } finally {
      step.running = false;
      headers.pause();
      look(ctx, watching);
      if (run) step.words = wordsOf(place, ctx);
    }
  };
}

/** A failing `explain` is no fault of the request. Its message may quote anything, so it is not shown. */
function wordsOf({ plugin, options }: ListedPlugin, ctx: GatewayContext): PluginStep['words'] {
  try {
    const words: unknown = plugin.explain?.(ctx, options);
    if (!(words instanceof Promise)) return words as PluginStep['words'];
    // The promise is not awaited; catching prevents an unhandled rejection.
    words.catch(() => {});
    return { does: 'no description: its `explain` returned a promise' };
  } catch {
    return { does: 'no description: its `explain` failed' };
  }
}

/** A failing attempt discards its outbound request, so it is captured before. */
function look({ attempt }: GatewayContext, watching: ExplainedRun): void {
  if (!attempt) return;
  const seen = watching.notesOf(attempt);
  seen.body = attempt.body;
  seen.resolved = attempt.resolved ?? seen.resolved;
  seen.outbound = attempt.outbound ?? seen.outbound;
}
