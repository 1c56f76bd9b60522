import type { Settings } from '../settings/read/load.ts';
import { toMiddleware } from '../kernel/define.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Exchange, GatewayContext, Middleware, TryRecord } from '../kernel/index.ts';
import type { Watch } from './chain-builder.ts';

/** The own time of each plugin by its name in the chain. `attempt` holds the times of the last attempt. */
interface Times {
  readonly chain: Map<string, number>;
  attempt: Map<string, number>;
  /** Total plugin time of the earlier attempts. Undefined: there were none. */
  earlier: number | undefined;
  /** The attempt that `attempt` belongs to. */
  of: GatewayContext['attempt'];
  /** The innermost running plugin, with the time that plugins inside it took. */
  running: { inside: number } | undefined;
}

/** A metric name is an HTTP token (W3C Server Timing, section 4). */
const NOT_TOKEN = /[^A-Za-z0-9!#$%&'*+.^_`|~-]/g;

/** Which configs may ask for `Server-Timing`: files, and inline configs, which are unknown until the request. */
export const timingSources = ({ gateway, written, stored }: Pick<Settings, 'gateway' | 'written' | 'stored'>) => ({
  stored: gateway.values().some(({ reply_headers: headers = [] }) => headers.includes('server_timing')),
  inline:
    written.keys.keys.some(({ inline_configs: inline }) => inline) ||
    (stored?.objects.values().some((one) => one.kind === 'keys' && one.value.entry.inline_configs) ?? false),
});

/** Measures plugins for `Server-Timing`, only under settings in which some config may ask for it. */
export class PluginTimes {
  readonly #clock: Clock;
  readonly #stored: boolean;
  readonly #times = new WeakMap<Exchange, Times>();

  constructor(clock: Clock, { stored }: Pick<ReturnType<typeof timingSources>, 'stored'>) {
    this.#clock = clock;
    this.#stored = stored;
  }

  /** Wraps each plugin in a measurement, inside the wrappers of `outer`. */
  around(outer: Watch | undefined): Watch {
    return {
      ...outer,
      instantiate: (place, create) => {
        const made = async (): Promise<Middleware> => this.#timed(place.instance, toMiddleware(await create()));
        return outer?.instantiate ? outer.instantiate(place, made) : made();
      },
    };
  }

  /** The milliseconds of each plugin and the moments of the last try. Earlier attempts appear as one sum. */
  header(exchange: Exchange): string {
    const { chain, attempt, earlier } = this.#times.get(exchange) ?? NONE;
    const toMetric = ([name, ms]: readonly [string, number]): string => metric(`plugin-${name}`, ms);
    const earlierMetrics = earlier === undefined ? [] : [metric('earlier-attempts', earlier)];
    const own = [...[...chain].map(toMetric), ...earlierMetrics, ...[...attempt].map(toMetric)];
    const last = exchange.attempts.at(-1)?.tries.at(-1);
    const total = metric('total', this.#clock.now() - exchange.startedAt);
    return [...own, ...(last ? upstreamMetrics(last) : []), total].join(', ');
  }

  /** Chains run inside plugins (`config`, `route`) and behind them: the time of all that ran inside is subtracted. */
  #timed(name: string, middleware: Middleware): Middleware {
    const timed: Middleware = async (ctx, next) => {
      const times = this.#timesOf(ctx.exchange);
      const into = ownTimes(times, ctx.attempt);
      // Inserted before it runs, so that the metrics have the order of the chain, although inner plugins end first.
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
    return (ctx, next) => (this.#isWanted(ctx.exchange) ? timed(ctx, next) : middleware(ctx, next));
  }

  /** Until the config of a request is known, it may be any. */
  #isWanted({ config, request }: Exchange): boolean {
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
