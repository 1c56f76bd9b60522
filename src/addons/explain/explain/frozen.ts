import type {
  KeptResponse,
  MaybePromise,
  ResponseService,
  Exchange,
  GatewayConfig,
  HealthDirectory,
  Target,
  TargetHealth,
} from '../../../core/kernel/index.ts';
import type { Cancellation, Clock } from '../../../plugin/index.ts';
import { targetsOf } from '../../../core/memory/ports.ts';

/** A clock that stands still: a dry run happens at one point in time. */
export class FrozenClock implements Clock {
  readonly #real: Clock;
  #moment = { now: 0, wall: 0 };
  #frozen = false;

  constructor(real: Clock) {
    this.#real = real;
  }

  freeze(): void {
    this.#frozen = true;
  }

  /** Lets time pass for plugins that are started and closed. */
  thaw(): void {
    this.#frozen = false;
  }

  stand(moment: { readonly now: number; readonly wall: number }): void {
    this.#moment = moment;
  }

  readonly now = (): number => this.#moment.now;
  readonly wall = (): number => this.#moment.wall;

  /** Real time, for the limit on plugins that start too slowly. */
  readonly after = (ms: number, task: () => void): (() => void) => this.#real.after(ms, task);

  /** A dry run does not wait; `setImmediate`, because a sleep as a limit must end after the awaited work. */
  readonly sleep = (ms: number, cancellation?: Cancellation): Promise<void> =>
    this.#frozen ? new Promise((resolve) => void setImmediate(resolve)) : this.#real.sleep(ms, cancellation);
}

export type HealthThen = Pick<TargetHealth, 'state' | 'retryAt' | 'admits'>;

/** Health of the targets of one config at one point in time, by path. A missing target was healthy. */
export type FrozenHealth = ReadonlyMap<string, HealthThen>;

export const WELL: HealthThen = { state: 'closed', retryAt: 0, admits: true };

/** @param exchange see `HealthDirectory` */
export type ReadHealth = (
  config: GatewayConfig,
  target: Target,
  exchange: Exchange | undefined,
) => HealthThen | undefined;

/** The health of a config's targets, without healthy ones. */
export const freezeHealth = (
  config: GatewayConfig,
  read: (config: GatewayConfig, target: Target) => HealthThen | undefined,
): FrozenHealth =>
  new Map(
    targetsOf(config.route).flatMap((target) => {
      const health = read(config, target);
      if (!health || health.state === 'closed') return [];
      const { state, retryAt, admits } = health;
      return [[target.path, { state, retryAt, admits }] as const];
    }),
  );

/** Health that is read and never written: an assumed failure is no evidence about a target. */
export const readOnlyHealth = (read: ReadHealth): HealthDirectory => ({
  of(config, target, exchange) {
    // Copied one by one: a breaker's fields are getters, which a spread omits.
    const { state, retryAt, admits } = read(config, target, exchange) ?? WELL;
    // Without an enforced breaker, health is only reported.
    const probe = target.breaker.enforced && state !== 'closed' && admits;
    return { state, retryAt, admits, begin: () => ({ probe, succeeded() {}, failed() {}, abandoned() {} }) };
  },
});

/** The kept responses and items that a served request found. */
export interface FrozenResponses {
  readonly responses: ReadonlyMap<string, KeptResponse | undefined>;
  readonly items: ReadonlyMap<string, string>;
}

interface ReadOnlySetup {
  /** The finds of the served request. Undefined: the responses that are kept now decide. */
  readonly before: () => FrozenResponses | undefined;
  readonly runOf: (exchange: Exchange) => { readonly notes: string[] };
  /** False in a command beside the gateway, which cannot read the gateway's memory. */
  readonly known: boolean;
}

/** The kept responses of a gateway, which explain reads and does not change. */
export function readOnlyResponses(service: ResponseService, { before, runOf, known }: ReadOnlySetup): ResponseService {
  const find: ResponseService['find'] = (exchange, id) => {
    const frozen = before();
    if (frozen) return frozen.responses.get(id);
    if (!known) noteUnknown(runOf(exchange), service);
    return service.find(exchange, id);
  };
  return {
    maxBytes: service.maxBytes,
    measure: (exchange, names) => (before() ? 0 : service.measure(exchange, names)),
    find,
    findItems(exchange, ids): MaybePromise<ReadonlyMap<string, string>> {
      const frozen = before();
      if (frozen) return frozen.items;
      if (!known) noteUnknown(runOf(exchange), service);
      return service.findItems(exchange, ids);
    },
    keep() {},
    remove: async (exchange, id) => (await find(exchange, id)) !== undefined,
  };
}

const UNKNOWN =
  'explain does not know the responses that a gateway keeps: the request is explained as if none were kept';

function noteUnknown({ notes }: { readonly notes: string[] }, { maxBytes }: ResponseService): void {
  if (maxBytes > 0 && !notes.includes(UNKNOWN)) notes.push(UNKNOWN);
}
