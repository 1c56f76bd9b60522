import { LRUCache } from 'lru-cache';
import { isOfAccount, isOfModel, type Target, type TargetHealth } from '../kernel/index.ts';
import type { Clock } from '../../plugin/index.ts';
import type { HealthSubject, HealthTransition } from './ports.ts';
import { Breaker } from './breaker.ts';
import { NarrowHealth } from './narrow-health.ts';

/** Maximum number of models at targets. Callers choose their names, so the least recently used one is evicted. */
const MAX_MODELS = 2000;
/** Longer names share a breaker with those that begin alike. */
const MAX_NAME = 256;

/** Stands for a name that has never answered: a caller may have put anything there. */
const UNKNOWN_MODEL = '__other__';

interface ModelAtTarget {
  readonly target: Breaker;
  readonly model: string;
  readonly breaker: Breaker;
  /** False: the name may be one that the upstream does not have. */
  hasAnswered: boolean;
  /** The number of answers of the target before the account was first refused this model since its last answer. */
  refusedAfter: number | undefined;
}

type OnModelTransition = (target: Breaker, model: string, transition: HealthTransition) => void;

/** By model, where the request names it: one that fails, or does not exist, takes the target from no other. */
export class ModelHealth {
  readonly #clock: Clock;
  readonly #onTransition: OnModelTransition;
  readonly #models = new LRUCache<string, ModelAtTarget>({ max: MAX_MODELS });
  readonly #answers = new WeakMap<Breaker, number>();

  constructor(clock: Clock, onTransition: OnModelTransition) {
    this.#clock = clock;
    this.#onTransition = onTransition;
  }

  of(breaker: Breaker, target: Target, exchange: HealthSubject | undefined): TargetHealth {
    const model = target.overrideParams?.model === undefined ? modelOf(target, exchange) : undefined;
    if (model === undefined) return breaker;
    const key = `${breaker.id} ${model}`;
    const { onStatusCodes } = breaker.settings;
    const entry = (): ModelAtTarget => this.#models.get(key) ?? this.#enter(key, breaker, model);
    return new NarrowHealth(breaker, {
      known: this.#models.get(key)?.breaker,
      open: () => entry().breaker,
      takes: (error) =>
        onStatusCodes.has(error.status) &&
        (isOfModel(error) || (isOfAccount(error) && this.#othersAnswer(breaker, entry()))),
      isUsed: () => {
        Object.assign(entry(), { hasAnswered: true, refusedAfter: undefined });
        this.#answers.set(breaker, (this.#answers.get(breaker) ?? 0) + 1);
        return true;
      },
    });
  }

  /**
   * The account that is refused this model is accepted for others: they have answered since, or at any time for a name
   * that never has. A caller can make up such names, and must not take the target from others with them.
   */
  #othersAnswer(target: Breaker, entry: ModelAtTarget): boolean {
    const answers = this.#answers.get(target) ?? 0;
    entry.refusedAfter ??= entry.hasAnswered ? answers : 0;
    return answers > entry.refusedAfter;
  }

  /** The models at a target that have answered there, and whose breaker is not closed. */
  troubled(target: Breaker): readonly ModelAtTarget[] {
    const ofTarget = this.#models.values().filter((one) => one.target === target && one.hasAnswered);
    return ofTarget.filter(({ breaker }) => breaker.state !== 'closed').toArray();
  }

  #enter(key: string, target: Breaker, model: string): ModelAtTarget {
    const breaker = new Breaker(target.settings, this.#clock, (transition) =>
      this.#onTransition(target, entry.hasAnswered ? model : UNKNOWN_MODEL, transition),
    );
    const entry: ModelAtTarget = { target, model, breaker, hasAnswered: false, refusedAfter: undefined };
    this.#models.set(key, entry);
    return entry;
  }
}

function modelOf({ defaultParams }: Target, exchange: HealthSubject | undefined): string | undefined {
  const fallback = defaultParams?.['model'];
  const model = exchange?.request.body?.string('model') ?? (typeof fallback === 'string' ? fallback : undefined);
  return exchange && model?.slice(0, MAX_NAME);
}
