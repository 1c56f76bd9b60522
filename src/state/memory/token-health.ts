import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  isOfCallersToken,
  type Clock,
  type GatewayError,
  type HealthTrial,
  type TargetHealth,
} from '../../plugin/index.ts';
import type { TokenBearer } from '../ports.ts';
import { Breaker } from './breaker.ts';

/** Maximum number of callers' tokens at targets. Callers choose their tokens, so the least recently used one is evicted. */
const MAX_TOKENS = 2000;

/**
 * The health of targets for the tokens that callers send: one breaker for each token at each target. A token is stored as a digest,
 * and only after an upstream has answered to it.
 */
export class TokenHealth {
  readonly #clock: Clock;
  readonly #breakers: LRUCache<string, Breaker>;
  readonly #targets = new WeakMap<Breaker, number>();
  #count = 0;

  constructor(clock: Clock, max: number = MAX_TOKENS) {
    this.#clock = clock;
    this.#breakers = new LRUCache({ max });
  }

  /** The health of a target for the caller of this request. */
  of(target: Breaker, exchange: TokenBearer | undefined): TargetHealth {
    const token = exchange?.upstreamToken;
    if (!exchange || !token) return target;
    return new HealthForToken(target, {
      // No digest is computed for targets that have never received a caller's token, which are nearly all.
      key: () => (this.#targets.has(target) ? this.#keyOf(target, token.reveal()) : undefined),
      known: (key) => this.#breakers.get(key),
      open: () => this.#open(target, token.reveal()),
      isUsed: () => exchange.attempts.at(-1)?.resolved?.usesCallersToken === true,
    });
  }

  #open(target: Breaker, token: string): Breaker {
    if (!this.#targets.has(target)) this.#targets.set(target, (this.#count += 1));
    const key = this.#keyOf(target, token);
    let breaker = this.#breakers.get(key);
    if (!breaker) this.#breakers.set(key, (breaker = new Breaker(target.settings, this.#clock, () => {}, 'token')));
    return breaker;
  }

  #keyOf(target: Breaker, token: string): string {
    return `${this.#targets.get(target)} ${createHash('sha256').update(token).digest('base64url')}`;
  }
}

/** One token at one target. */
interface TokenPlace {
  /** Undefined where the target has never received a caller's token. */
  key(): string | undefined;
  known(key: string): Breaker | undefined;
  open(): Breaker;
  /** True when the latest attempt sent the token. */
  isUsed(): boolean;
}

const SEVERITY = { closed: 0, half_open: 1, open: 2 } as const;

/** Admits a request when the target is healthy and has not refused this token too often. */
class HealthForToken implements TargetHealth {
  readonly #target: Breaker;
  readonly #place: TokenPlace;
  readonly #token: Breaker | undefined;

  constructor(target: Breaker, place: TokenPlace) {
    this.#target = target;
    this.#place = place;
    const key = place.key();
    this.#token = key === undefined ? undefined : place.known(key);
  }

  get state(): TargetHealth['state'] {
    const [one, other] = [this.#target.state, this.#token?.state ?? 'closed'];
    return SEVERITY[one] < SEVERITY[other] ? other : one;
  }

  get retryAt(): number {
    return Math.max(this.#target.retryAt, this.#token?.retryAt ?? 0);
  }

  get admits(): boolean {
    return this.#target.admits && (this.#token?.admits ?? true);
  }

  begin(): HealthTrial {
    return new TrialOfToken(this.#target.begin(), this.#token?.begin(), this.#place);
  }
}

/** Replies to the token count for the token's breaker, everything else for the target's. */
class TrialOfToken implements HealthTrial {
  readonly #target: HealthTrial;
  readonly #place: TokenPlace;
  #token: HealthTrial | undefined;

  constructor(target: HealthTrial, token: HealthTrial | undefined, place: TokenPlace) {
    this.#target = target;
    this.#token = token;
    this.#place = place;
  }

  get probe(): boolean {
    return this.#target.probe || (this.#token?.probe ?? false);
  }

  succeeded(): void {
    this.#target.succeeded();
    if (this.#place.isUsed()) this.#token ??= this.#place.open().begin();
    this.#token?.succeeded();
  }

  failed(error: GatewayError): void {
    this.#target.failed(error);
    if (isOfCallersToken(error)) this.#token ??= this.#place.open().begin();
    this.#token?.failed(error);
  }

  abandoned(): void {
    this.#target.abandoned();
    this.#token?.abandoned();
  }
}
