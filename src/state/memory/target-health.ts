import { LRUCache } from 'lru-cache';
import type { Clock, GatewayConfig, HealthDirectory, Route, Target, TargetHealth } from '../../plugin/index.ts';
import { Breaker, type HealthReport, type Transition } from './breaker.ts';
import { TokenHealth, type TokenBearer } from './token-health.ts';

/** Maximum number of breakers for targets outside the files: of configs sent with requests, and of requests without a config. */
const MAX_UNLISTED = 2000;

/** Identifies a target of a stored config. */
export interface TargetPlace {
  readonly config: string;
  /** Path in the config. */
  readonly target: string;
  /** Slug of the catalog entry, or a provider's name; empty where the request names it. */
  readonly provider: string;
  /** The target has a circuit breaker; otherwise its health is only reported. */
  readonly enforced: boolean;
}

export interface HealthStoreSetup {
  readonly clock: Clock;
  /** Called with the targets whose health is reported from now on. */
  readonly onTargets?: (targets: readonly (TargetPlace & { readonly healthy: boolean })[]) => void;
  readonly onTransition?: (place: TargetPlace, transition: Transition) => void;
}

interface Listed {
  readonly place: TargetPlace;
  readonly breaker: Breaker;
}

/**
 * The health of all targets; outlives snapshots. A target that a reload does not change keeps its health; a changed one starts
 * again. Targets of stored configs are kept while the settings list them, and reported. All others are bounded in number, and the
 * least recently used one is evicted.
 */
export class HealthStore {
  readonly #setup: HealthStoreSetup;
  readonly #tokens: TokenHealth;
  readonly #unlisted = new LRUCache<string, Breaker>({ max: MAX_UNLISTED });
  #listed: ReadonlyMap<string, Listed> = new Map();

  constructor(setup: HealthStoreSetup) {
    this.#setup = setup;
    this.#tokens = new TokenHealth(setup.clock);
  }

  /** Makes the targets of these configs the current ones, and returns the health of each. */
  list(configs: Iterable<GatewayConfig>): ReadonlyMap<Target, Breaker> {
    const listed = new Map<string, Listed>();
    const found = new Map<Target, Breaker>();
    for (const config of configs) {
      for (const target of targetsOf(config.route)) {
        const key = keyOf(config.id, target);
        const entry = this.#listed.get(key) ?? this.#enter(key, config, target);
        listed.set(key, entry);
        found.set(target, entry.breaker);
      }
    }
    this.#listed = listed;
    this.#setup.onTargets?.(
      [...listed.values()].map(({ place, breaker }) => ({ ...place, healthy: breaker.state === 'closed' })),
    );
    return found;
  }

  /** The health of a target, if known, without creating an entry for it. @param exchange see `HealthDirectory` */
  peek({ id, hash }: GatewayConfig, target: Target, exchange?: TokenBearer): TargetHealth | undefined {
    const breaker =
      this.#listed.get(keyOf(id, target))?.breaker ?? this.#unlisted.peek(keyOf(`${id}\n${hash}`, target));
    return breaker && this.#tokens.of(breaker, exchange);
  }

  /** The health of a target for the caller of this request. */
  seenBy(breaker: Breaker, exchange: TokenBearer | undefined): TargetHealth {
    return this.#tokens.of(breaker, exchange);
  }

  unlisted({ id, hash }: GatewayConfig, target: Target): Breaker {
    const key = keyOf(`${id}\n${hash}`, target);
    let breaker = this.#unlisted.get(key);
    if (!breaker) this.#unlisted.set(key, (breaker = new Breaker(target.breaker, this.#setup.clock, () => {})));
    return breaker;
  }

  /** The health of the targets of stored configs, in order. */
  reports(): readonly (TargetPlace & HealthReport)[] {
    return [...this.#listed.values()].map(({ place, breaker }) => ({ ...place, ...breaker.report() }));
  }

  #enter(key: string, config: GatewayConfig, target: Target): Listed {
    const place = {
      config: config.id,
      target: target.path,
      provider: providerOf(target),
      enforced: target.breaker.enforced,
    };
    const breaker = new Breaker(target.breaker, this.#setup.clock, (transition) => {
      // Requests of earlier settings may still run on a target that was removed.
      if (this.#listed.get(key)?.breaker === breaker) this.#setup.onTransition?.(place, transition);
    });
    return { place, breaker };
  }
}

/** The health directory of one snapshot's requests. */
export interface SnapshotHealth extends HealthDirectory {
  /** Sets the stored configs of the snapshot. */
  prepare(configs: readonly GatewayConfig[]): void;
  /** Called when the snapshot goes live. */
  use(): void;
}

export function createHealthDirectory(store: HealthStore): SnapshotHealth {
  let stored: readonly GatewayConfig[] = [];
  // Unused inline configs are released, so the health of their targets must not keep them alive.
  let known = new WeakMap<Target, Breaker>();
  return {
    prepare(configs) {
      stored = configs;
    },
    use() {
      known = new WeakMap(store.list(stored));
    },
    of(config, target, exchange) {
      let breaker = known.get(target);
      if (!breaker) known.set(target, (breaker = store.unlisted(config, target)));
      return store.seenBy(breaker, exchange);
    },
  };
}

export function targetsOf(route: Route): readonly Target[] {
  return route.kind === 'target' ? [route] : route.members.flatMap(targetsOf);
}

/** The identity of a target across reloads. */
function keyOf(config: string, target: Target): string {
  const { path, provider, breaker } = target;
  const { onStatusCodes, ...settings } = breaker;
  const codes = [...onStatusCodes].toSorted((a, b) => a - b);
  return JSON.stringify([config, path, provider, modelIn(target), settings, codes]);
}

const modelIn = ({ overrideParams }: Target): unknown => overrideParams?.model;

/** The provider's name as in other metrics, without `@`. */
function providerOf(target: Target): string {
  const model = modelIn(target);
  if (target.provider !== undefined) return target.provider.replace(/^@/, '');
  return (typeof model === 'string' && /^@([^/]+)\//.exec(model)?.[1]) || '';
}
