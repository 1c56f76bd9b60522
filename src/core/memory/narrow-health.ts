import type { GatewayError } from '../../plugin/index.ts';
import type { HealthTrial, TargetHealth } from '../kernel/index.ts';
import type { Breaker } from './breaker.ts';

/** A part of a target's requests with a breaker of its own: those with one token, or for one model. */
interface NarrowPlace {
  /** Undefined: nothing has been counted here. */
  readonly known: Breaker | undefined;
  open(): Breaker;
  /** True: the failure says something about the part, and nothing about the target. */
  takes(error: GatewayError): boolean;
  /** True: the success of the request counts here. */
  isUsed(): boolean;
}

const SEVERITY = { closed: 0, half_open: 1, open: 2 } as const;

/** Admits a request when the target is healthy and so is the part. */
export class NarrowHealth implements TargetHealth {
  readonly #target: TargetHealth;
  readonly #place: NarrowPlace;
  readonly #part: Breaker | undefined;

  constructor(target: TargetHealth, place: NarrowPlace) {
    this.#target = target;
    this.#place = place;
    this.#part = place.known;
  }

  get state(): TargetHealth['state'] {
    const [one, other] = [this.#target.state, this.#part?.state ?? 'closed'];
    return SEVERITY[one] < SEVERITY[other] ? other : one;
  }

  get retryAt(): number {
    return Math.max(this.#target.retryAt, this.#part?.retryAt ?? 0);
  }

  get admits(): boolean {
    return this.#target.admits && (this.#part?.admits ?? true);
  }

  begin(): HealthTrial {
    return new NarrowTrial(this.#target.begin(), this.#part?.begin(), this.#place);
  }
}

class NarrowTrial implements HealthTrial {
  readonly #target: HealthTrial;
  readonly #place: NarrowPlace;
  #part: HealthTrial | undefined;

  constructor(target: HealthTrial, part: HealthTrial | undefined, place: NarrowPlace) {
    this.#target = target;
    this.#part = part;
    this.#place = place;
  }

  get probe(): boolean {
    return this.#target.probe || (this.#part?.probe ?? false);
  }

  succeeded(): void {
    this.#target.succeeded();
    if (this.#place.isUsed()) this.#part ??= this.#place.open().begin();
    this.#part?.succeeded();
  }

  failed(error: GatewayError): void {
    if (this.#place.takes(error)) {
      this.#target.abandoned();
      this.#part ??= this.#place.open().begin();
    } else this.#target.failed(error);
    this.#part?.failed(error);
  }

  abandoned(): void {
    this.#target.abandoned();
    this.#part?.abandoned();
  }
}
