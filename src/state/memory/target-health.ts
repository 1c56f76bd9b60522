import { LRUCache } from 'lru-cache';
import type { Clock, GatewayConfig, HealthDirectory, Route, Target, TargetHealth } from '../../plugin/index.ts';
import { Breaker, type HealthReport, type Transition } from './breaker.ts';
import { TokenHealth, type TokenBearer } from './token-health.ts';

/** Breakers of targets that no file names: of configs that come with requests, and of requests without one. */
const MAX_UNLISTED = 2000;

/** Which target of a stored config. */
export interface TargetPlace {
  readonly config: string;
  /** Path in the config. */
  readonly target: string;
  /** Slug of the catalog entry, or a provider's name; empty where the request says it. */
  readonly provider: string;
  /** It has a circuit breaker; otherwise its health is only told. */
  readonly enforced: boolean;
}

export interface HealthStoreSetup {
  readonly clock: Clock;
  /** These targets are told of from now on, and no others. */
  readonly onTargets?: (targets: readonly (TargetPlace & { readonly healthy: boolean })[]) => void;
  readonly onTransition?: (place: TargetPlace, transition: Transition) => void;
}

interface Listed {
  readonly place: TargetPlace;
  readonly breaker: Breaker;
}

/**
 * The health of all targets; outlives snapshots. A target that a reload leaves as it is keeps its health, one that it changes
 * begins anew. Targets of stored configs are kept as long as the settings list them, and told of; all others are bounded in
 * number, the one used longest ago goes first.
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

  /** The targets of these configs are those in force; gives what each has as its health. */
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

  /** What is known of a target's health, without beginning to keep it. @param exchange see `HealthDirectory` */
  peek({ id, hash }: GatewayConfig, target: Target, exchange?: TokenBearer): TargetHealth | undefined {
    const breaker =
      this.#listed.get(keyOf(id, target))?.breaker ?? this.#unlisted.peek(keyOf(`${id}\n${hash}`, target));
    return breaker && this.#tokens.of(breaker, exchange);
  }

  /** A target's health as the caller of this request sees it. */
  seenBy(breaker: Breaker, exchange: TokenBearer | undefined): TargetHealth {
    return this.#tokens.of(breaker, exchange);
  }

  unlisted({ id, hash }: GatewayConfig, target: Target): Breaker {
    const key = keyOf(`${id}\n${hash}`, target);
    let breaker = this.#unlisted.get(key);
    if (!breaker) this.#unlisted.set(key, (breaker = new Breaker(target.breaker, this.#setup.clock, () => {})));
    return breaker;
  }

  /** Of the targets of stored configs, in their order. */
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
      // Requests of earlier settings may still run on a target that is no more.
      if (this.#listed.get(key)?.breaker === breaker) this.#setup.onTransition?.(place, transition);
    });
    return { place, breaker };
  }
}

/** What one snapshot's requests ask. */
export interface SnapshotHealth extends HealthDirectory {
  /** The stored configs of the snapshot. */
  prepare(configs: readonly GatewayConfig[]): void;
  /** The snapshot goes live. */
  use(): void;
}

export function createHealthDirectory(store: HealthStore): SnapshotHealth {
  let stored: readonly GatewayConfig[] = [];
  // Inline configs are let go when they have not been used for long: their targets' health must not keep them.
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

/** What makes it the same target after a reload. */
function keyOf(config: string, target: Target): string {
  const { path, provider, breaker } = target;
  const { onStatusCodes, ...settings } = breaker;
  const codes = [...onStatusCodes].toSorted((a, b) => a - b);
  return JSON.stringify([config, path, provider, modelIn(target), settings, codes]);
}

const modelIn = ({ overrideParams }: Target): unknown => overrideParams?.model;

/** As other metrics name it: without its `@`. */
function providerOf(target: Target): string {
  const model = modelIn(target);
  if (target.provider !== undefined) return target.provider.replace(/^@/, '');
  return (typeof model === 'string' && /^@([^/]+)\//.exec(model)?.[1]) || '';
}
