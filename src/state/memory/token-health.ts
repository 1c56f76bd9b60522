import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  isOfCallersToken,
  type Clock,
  type Exchange,
  type GatewayError,
  type HealthTrial,
  type TargetHealth,
} from '../../plugin/index.ts';
import { Breaker } from './breaker.ts';

/** Tokens of callers at targets, at once: callers choose their tokens, so the one used longest ago goes first. */
const MAX_TOKENS = 2000;

/** What an exchange tells of the token its caller brought. */
export type TokenBearer = Pick<Exchange, 'upstreamToken' | 'attempts'>;

/**
 * How targets answer to the tokens that callers bring: a breaker for each token at each target. A token is known by its digest, and
 * only once an upstream has answered to it.
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

  /** The health of a target as this request's caller sees it. */
  of(target: Breaker, exchange: TokenBearer | undefined): TargetHealth {
    const token = exchange?.upstreamToken;
    if (!exchange || !token) return target;
    return new HealthForToken(target, {
      // Nearly no target takes the tokens of callers: for those no digest is made.
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
  /** Undefined where the target has never been sent a caller's token. */
  key(): string | undefined;
  known(key: string): Breaker | undefined;
  open(): Breaker;
  /** The latest attempt has sent it. */
  isUsed(): boolean;
}

const MEANS_WORSE = { closed: 0, half_open: 1, open: 2 } as const;

/** A target may be tried when it is well itself, and has not refused this token too often. */
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
    return MEANS_WORSE[one] < MEANS_WORSE[other] ? other : one;
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

/** What an upstream answers to the token counts for the token, everything else for the target. */
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
