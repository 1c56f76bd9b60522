import type { GatewayContext } from '../../../core/kernel/index.ts';
import type { ListedPlugin } from '../../../core/compose/chain-builder.ts';
import type { HeaderValues } from './header-marks.ts';
import type { ExplainedRun } from './observation.ts';

/** The headers that a plugin may set: of the client's request, of the request that is sent, and of the reply. */
interface SeenHeaders {
  readonly request: HeaderValues;
  readonly sent: HeaderValues;
  readonly reply: HeaderValues;
}

/** Watches the headers during a plugin's own work, without the work of the chain behind it. */
export class HeaderWatch {
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

  /** The plugin's own work begins again. */
  resume(): void {
    this.#before = headersOf(this.#ctx);
  }

  /** The plugin passes the request on, or has ended. */
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
