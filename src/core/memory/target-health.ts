import { LRUCache } from 'lru-cache';
import type { Clock } from '../../plugin/index.ts';
import type { GatewayConfig, Target, TargetHealth } from '../kernel/index.ts';
import {
  targetsOf,
  type HealthLink,
  type HealthListener,
  type HealthReport,
  type HealthStore,
  type HealthTransition,
  type SnapshotHealth,
  type TargetPlace,
  type HealthSubject,
} from './ports.ts';
import { Breaker, type BreakerOpened } from './breaker.ts';
import { ModelHealth } from './model-health.ts';
import { TokenHealth } from './token-health.ts';

/** Maximum number of breakers for targets outside the files: of configs sent with requests, and of requests without a config. */
const MAX_UNLISTED = 2000;

interface HealthStoreSetup extends Partial<HealthListener> {
  readonly clock: Clock;
  /** Default: other gateways hear nothing. */
  readonly link?: HealthLink | undefined;
}

interface ListedTarget {
  readonly place: TargetPlace;
  readonly breaker: Breaker;
}

/**
 * The health of all targets; outlives snapshots. A target that a reload does not change keeps its health. Targets of
 * stored configs are kept while the settings list them, and reported; of all others the least recently used is evicted.
 */
export class MemoryHealthStore implements HealthStore {
  readonly #setup: HealthStoreSetup;
  readonly #tokens: TokenHealth;
  readonly #models: ModelHealth;
  readonly #unlisted = new LRUCache<string, Breaker>({ max: MAX_UNLISTED });
  #listed: ReadonlyMap<string, ListedTarget> = new Map();

  constructor(setup: HealthStoreSetup) {
    this.#setup = setup;
    this.#tokens = new TokenHealth(setup.clock);
    this.#models = new ModelHealth(setup.clock, (target, model, transition) =>
      this.#changed(target, transition, model),
    );
    setup.link?.onTold(({ target, ...opened }) => this.#listed.get(target)?.breaker.openedElsewhere(opened));
  }

  directory(): SnapshotHealth {
    let stored: readonly GatewayConfig[] = [];
    // Unused inline configs are released, so the health of their targets must not keep them alive.
    let known = new WeakMap<Target, Breaker>();
    return {
      prepare(configs) {
        stored = configs;
      },
      use: () => {
        known = new WeakMap(this.#list(stored));
      },
      of: (config, target, exchange) => {
        let breaker = known.get(target);
        if (!breaker) known.set(target, (breaker = this.#enterUnlisted(config, target)));
        return this.#healthOf(breaker, target, exchange);
      },
    };
  }

  /** Makes the targets of these configs the current ones, and returns the health of each. */
  #list(configs: Iterable<GatewayConfig>): ReadonlyMap<Target, Breaker> {
    const listed = new Map<string, ListedTarget>();
    const found = new Map<Target, Breaker>();
    for (const config of configs) {
      for (const target of targetsOf(config.route)) {
        const key = keyOf(config.id, target);
        const entry = this.#listed.get(key) ?? this.#enter(config, target);
        listed.set(key, entry);
        found.set(target, entry.breaker);
      }
    }
    this.#listed = listed;
    this.#setup.onTargets?.(
      [...listed.values()].map(({ place, breaker }) => ({ ...place, healthy: this.#isWell(breaker) })),
    );
    return found;
  }

  peek({ id, hash }: GatewayConfig, target: Target, exchange?: HealthSubject): TargetHealth | undefined {
    const breaker =
      this.#listed.get(keyOf(id, target))?.breaker ?? this.#unlisted.peek(keyOf(`${id}\n${hash}`, target));
    return breaker && this.#healthOf(breaker, target, exchange);
  }

  #healthOf(breaker: Breaker, target: Target, exchange: HealthSubject | undefined): TargetHealth {
    return this.#tokens.of(breaker, this.#models.of(breaker, target, exchange), exchange);
  }

  #enterUnlisted({ id, hash }: GatewayConfig, target: Target): Breaker {
    const key = keyOf(`${id}\n${hash}`, target);
    let breaker = this.#unlisted.get(key);
    if (!breaker) this.#unlisted.set(key, (breaker = new Breaker(target.breaker, this.#setup.clock, () => {})));
    return breaker;
  }

  reports(): readonly (TargetPlace & HealthReport)[] {
    return [...this.#listed.values()].flatMap(({ place, breaker }) => [
      { ...place, ...breaker.report() },
      ...this.#models.troubled(breaker).map((one) => ({ ...place, model: one.model, ...one.breaker.report() })),
    ]);
  }

  #enter(config: GatewayConfig, target: Target): ListedTarget {
    const place = {
      config: config.id,
      target: target.path,
      name: target.name ?? '',
      provider: providerOf(target),
      enforced: target.breaker.enforced,
    };
    const { clock, link } = this.#setup;
    const of = keyOf(config.id, target);
    const tell = link && ((opened: BreakerOpened): void => link.tell({ target: of, ...opened }));
    const breaker = new Breaker(target.breaker, clock, (transition) => this.#changed(breaker, transition), { tell });
    return { place, breaker };
  }

  /** Requests of earlier settings may still run on a target that was removed: it is not listed. */
  #changed(breaker: Breaker, transition: HealthTransition, model?: string): void {
    const place = this.#listed.values().find((one) => one.breaker === breaker)?.place;
    if (place)
      this.#setup.onTransition?.(
        { ...place, ...(model !== undefined && { model }) },
        transition,
        this.#isWell(breaker),
      );
  }

  #isWell(breaker: Breaker): boolean {
    return breaker.state === 'closed' && this.#models.troubled(breaker).length === 0;
  }
}

/** The identity of a target across reloads. */
function keyOf(config: string, target: Target): string {
  const { path, provider, breaker } = target;
  const { onStatusCodes, onTokenStatusCodes = onStatusCodes, ...settings } = breaker;
  const codes = [onStatusCodes, onTokenStatusCodes].map((set) => [...set].toSorted((a, b) => a - b));
  return JSON.stringify([config, path, provider, modelIn(target), settings, codes]);
}

const modelIn = ({ overrideParams }: Target): unknown => overrideParams?.model;

function providerOf(target: Target): string {
  const model = modelIn(target);
  if (target.provider !== undefined) return target.provider.replace(/^@/, '');
  return (typeof model === 'string' && /^@([^/]+)\//.exec(model)?.[1]) || '';
}
