import type { Settings } from '../settings/read/load.ts';
import type { Clock, Exchange, GatewayContext, Middleware, TryRecord } from '../plugin/index.ts';
import type { Watch } from './chain-builder.ts';

/** Own time of plugins, by their names in the chains; an attempt's are those of the attempt that came last. */
interface Times {
  readonly chain: Map<string, number>;
  attempt: Map<string, number>;
  /** What the plugins of all attempts before it took together; undefined: there were none. */
  earlier: number | undefined;
  /** Whose they are. */
  of: GatewayContext['attempt'];
  /** The innermost plugin that runs, and the time of those that ran inside it. */
  running: { inside: number } | undefined;
}

/** W3C Server Timing, section 4: a name is a token of HTTP. */
const NOT_TOKEN = /[^A-Za-z0-9!#$%&'*+.^_`|~-]/g;

/** Who may ask: configs of files, and those that come with requests, which are not known before the request is. */
export interface MayAsk {
  readonly stored: boolean;
  readonly inline: boolean;
}

export const whoMayAsk = ({ gateway, keys }: Pick<Settings, 'gateway' | 'keys'>): MayAsk => ({
  stored: [...gateway.values()].some(({ reply_headers: asked }) => asked?.includes('server_timing')),
  inline: keys.keys.some(({ inline_configs: inline }) => inline === true),
});

/**
 * Where a request's time went. Plugins are timed in settings where somebody may ask for it, and in no others: their chains are as
 * they would be without.
 */
export class PluginTimes {
  readonly #clock: Clock;
  readonly #stored: boolean;
  readonly #times = new WeakMap<Exchange, Times>();

  constructor(clock: Clock, { stored }: Pick<MayAsk, 'stored'>) {
    this.#clock = clock;
    this.#stored = stored;
  }

  /** Puts the measuring around plugins, inside whatever else stands around them. */
  around(outer: Watch | undefined): Watch {
    return {
      ...outer,
      instantiate: (place, create) => {
        const made = async (): Promise<Middleware> => this.#timed(place.instance, await create());
        return outer?.instantiate ? outer.instantiate(place, made) : made();
      },
    };
  }

  /**
   * Of a reply that is about to leave: milliseconds of each plugin, and of the last try since it began. What was lost on attempts before
   * the last is told as one, so that what plugins took adds up.
   */
  header(exchange: Exchange): string {
    const { chain, attempt, earlier } = this.#times.get(exchange) ?? NONE;
    const reported = ([name, ms]: readonly [string, number]): string => metric(`plugin-${name}`, ms);
    const lost = earlier === undefined ? [] : [metric('earlier-attempts', earlier)];
    const own = [...[...chain].map(reported), ...lost, ...[...attempt].map(reported)];
    const last = exchange.attempts.at(-1)?.tries.at(-1);
    const total = metric('total', this.#clock.now() - exchange.startedAt);
    return [...own, ...(last ? upstreamMetrics(last) : []), total].join(', ');
  }

  /** Chains run inside plugins as well as behind them (`config`, `route`): whatever ran while one of them did is not its own. */
  #timed(name: string, middleware: Middleware): Middleware {
    const timed: Middleware = async (ctx, next) => {
      const times = this.#timesOf(ctx.exchange);
      const into = ownTimes(times, ctx.attempt);
      // In the order of the chain, though the last one ends first.
      into.set(name, into.get(name) ?? 0);
      const around = times.running;
      const running = (times.running = { inside: 0 });
      const from = this.#clock.now();
      try {
        await middleware(ctx, next);
      } finally {
        const took = this.#clock.now() - from;
        into.set(name, (into.get(name) ?? 0) + took - running.inside);
        if (around) around.inside += took;
        times.running = around;
      }
    };
    return (ctx, next) => (this.#isAsked(ctx.exchange) ? timed(ctx, next) : middleware(ctx, next));
  }

  /** As long as its config is not known, a request may have any. */
  #isAsked({ config, request }: Exchange): boolean {
    if (config) return config.replyHeaders.has('server_timing');
    return this.#stored || request.header('config') !== undefined;
  }

  #timesOf(exchange: Exchange): Times {
    let times = this.#times.get(exchange);
    if (!times) this.#times.set(exchange, (times = noTimes()));
    return times;
  }
}

function ownTimes(times: Times, attempt: GatewayContext['attempt']): Map<string, number> {
  if (!attempt) return times.chain;
  if (attempt !== times.of) {
    if (times.of) times.earlier = times.attempt.values().reduce((sum, ms) => sum + ms, times.earlier ?? 0);
    times.attempt = new Map();
    times.of = attempt;
  }
  return times.attempt;
}

const noTimes = (): Times => ({
  chain: new Map(),
  attempt: new Map(),
  earlier: undefined,
  of: undefined,
  running: undefined,
});

const NONE = noTimes();

function upstreamMetrics({ startedAt, sentAt, firstByteAt, firstContentAt }: TryRecord): readonly string[] {
  const moments = [
    ['upstream-connect', sentAt],
    ['upstream-first-byte', firstByteAt],
    ['upstream-first-content', firstContentAt],
  ] as const;
  return moments.flatMap(([name, at]) => (at === undefined ? [] : [metric(name, at - startedAt)]));
}

const metric = (name: string, ms: number): string =>
  `${name.replaceAll(NOT_TOKEN, '_')};dur=${Math.max(0, ms).toFixed(2)}`;
