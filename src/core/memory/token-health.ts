import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isOfCallersToken, type TargetHealth } from '../kernel/index.ts';
import type { Clock } from '../../plugin/index.ts';
import type { HealthSubject } from './ports.ts';
import { Breaker } from './breaker.ts';
import { NarrowHealth } from './narrow-health.ts';

/** Maximum number of callers' tokens at targets. Callers choose their tokens, so the least recently used one is evicted. */
const MAX_TOKENS = 2000;

/**
 * The health of targets for the tokens that callers send: one breaker for each token at each target. A token is stored as a digest,
 * and only after an upstream has answered to it.
 */
export class TokenHealth {
  readonly #clock: Clock;
  readonly #breakers: LRUCache<string, Breaker>;
  readonly #targets = new WeakSet<Breaker>();

  constructor(clock: Clock, max: number = MAX_TOKENS) {
    this.#clock = clock;
    this.#breakers = new LRUCache({ max });
  }

  /** The health of a target for the caller of this request. @param health of the target for the model of the request */
  of(target: Breaker, health: TargetHealth, exchange: HealthSubject | undefined): TargetHealth {
    const token = exchange?.upstreamToken;
    if (!exchange || !token) return health;
    return new NarrowHealth(health, {
      // No digest is computed for targets that have never received a caller's token, which are nearly all.
      known: this.#targets.has(target) ? this.#breakers.get(this.#keyOf(target, token.reveal())) : undefined,
      open: () => this.#open(target, token.reveal()),
      takes: isOfCallersToken,
      isUsed: () => exchange.attempts.at(-1)?.resolved?.usesCallersToken === true,
    });
  }

  #open(target: Breaker, token: string): Breaker {
    this.#targets.add(target);
    const key = this.#keyOf(target, token);
    let breaker = this.#breakers.get(key);
    if (!breaker)
      this.#breakers.set(key, (breaker = new Breaker(target.settings, this.#clock, () => {}, { of: 'token' })));
    return breaker;
  }

  #keyOf(target: Breaker, token: string): string {
    return `${target.id} ${hash('sha256', token)}`;
  }
}
