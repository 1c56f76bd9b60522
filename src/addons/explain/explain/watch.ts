import { toGatewayError, type Exchange, type GatewayContext, type Middleware } from '../../../core/kernel/index.ts';
import { toMiddleware } from '../../../core/kernel/define.ts';
import type { ListedPlugin, Watch } from '../../../core/compose/chain-builder.ts';
import type { HeaderValues } from './header-marks.ts';
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

/** The headers that a plugin may set: of the client's request, of the request that is sent, and of the reply. */
interface SeenHeaders {
  readonly request: HeaderValues;
  readonly sent: HeaderValues;
  readonly reply: HeaderValues;
}

/** Watches the headers during a plugin's own work, without the work of the chain behind it. */
class HeaderWatch {
  readonly #place: ListedPlugin;
  readonly #ctx: GatewayContext;
  readonly #run: ExplainedRun;
  #before: SeenHeaders;

  constructor(place: ListedPlugin, ctx: GatewayContext, run: ExplainedRun) {
    this.#place = place;
    this.#ctx = ctx;
    this.#run = run;
    this.#before = headersOf(ctx);
  }

  resume(): void {
    this.#before = headersOf(this.#ctx);
  }

  pause(): void {
    const before = this.#before;
    const after = (this.#before = headersOf(this.#ctx));
    const { plugin, builtin } = this.#place;
    // The headers of an encoded request have sources of their own, and those of an upstream's reply are the upstream's.
    const setterOf = (made: string) => (builtin && plugin.provides?.includes(made) ? undefined : this.#place);
    const { attempt } = this.#ctx;
    this.#run.requestHeaders.note(this.#place, before.request, after.request);
    if (attempt) this.#run.notesOf(attempt).sentHeaders.note(setterOf('outbound'), before.sent, after.sent);
    this.#run.replyHeaders.note(setterOf('reply'), before.reply, after.reply);
  }
}

function headersOf(ctx: GatewayContext): SeenHeaders {
  const { exchange, attempt } = ctx;
  return {
    request: textOf(exchange.request.headers),
    sent: textOf(attempt?.outbound?.headers),
    reply: replyHeaders(ctx),
  };
}

/** The headers of the current reply, with those that `ctx.set` has set. */
export function replyHeaders(ctx: WithHeaders): HeaderValues {
  const { exchange, attempt, response } = ctx;
  return new Map([...textOf(response?.headers), ...textOf((attempt ?? exchange).reply?.headers)]);
}

/** Built-in plugins may run without Koa's context. */
interface WithHeaders extends Pick<GatewayContext, 'exchange' | 'attempt'> {
  readonly response?: { readonly headers: object };
}

/** HeaderValues by their names in lower case. A plugin may have left anything in them, so that reading them may throw. */
function textOf(headers: object | undefined): HeaderValues {
  try {
    return new Map(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]));
  } catch {
    return new Map();
  }
}
