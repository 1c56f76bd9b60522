import type { Caller, GatewayConfig, Target } from './config.ts';
import type { GatewayError } from './errors.ts';
import type { Choice, Exchange, GatewayContext } from './exchange.ts';

/** The gateway keys of the settings. */
export interface KeyRing {
  /**
   * Finds the caller of a key in time that does not depend on the key. Returns undefined when it is not a gateway key.
   * Throws GatewayError `expired_api_key` or `network_not_allowed`.
   */
  find(key: string, remoteAddress: string): Caller | undefined;
}

/** Runs the attempt chain for a target in its own Attempt. Throws the error of the attempt. */
export interface AttemptRunner {
  /**
   * @param choice why this target was selected and whether its failure falls through; recorded, and available to the
   * attempt's plugins
   */
  run(ctx: GatewayContext, target: Target, choice: Choice): Promise<void>;
}

/**
 * Recent health of a target; outlives snapshots. An open breaker blocks its target. After its cooldown it admits one
 * request at a time (half-open), and the first success closes it.
 */
export interface TargetHealth {
  readonly state: 'closed' | 'open' | 'half_open';
  /** Monotonic milliseconds of the earliest next probe; meaningful only while `state` is `open`. */
  readonly retryAt: number;
  /** Whether the target may be tried now. Has no side effects. */
  readonly admits: boolean;
  /**
   * Starts a trial for a request that goes to the target, whether or not `admits` holds. The caller must report its
   * outcome once.
   */
  begin(): HealthTrial;
}

/**
 * One request at a target. Only the first report counts, except that `failed` may follow `succeeded`: a stream that
 * started well broke.
 */
export interface HealthTrial {
  /** The request probes whether the target has recovered. */
  readonly probe: boolean;
  succeeded(): void;
  /** Reports a failure. The breaker's settings decide whether it counts against the target. */
  failed(error: GatewayError): void;
  /** The request ended without evidence about the target's health. */
  abandoned(): void;
}

/** The health of targets, keyed by config, path in the config, model and breaker settings. */
export interface HealthDirectory {
  /**
   * Never fails: a target without requests so far is healthy.
   * @param exchange the request that would go to the target. With it, the health also counts the upstream's replies to
   * the token its caller brought; without it, those replies count for no target.
   */
  of(config: GatewayConfig, target: Target, exchange?: Exchange): TargetHealth;
}

export interface RequestLimits {
  /**
   * Reserves `bytes` more for a request's body out of the bytes that all requests may hold together. Returns the error
   * to reject the body with when they are not available. The end of the exchange releases them.
   */
  reserve(exchange: Exchange, bytes: number): GatewayError | undefined;
}

/** Capabilities that an external plugin may name in `needs` and gets from its host. */
export interface Capabilities {
  readonly keys: KeyRing;
  readonly attempts: AttemptRunner;
  readonly health: HealthDirectory;
  readonly limits: RequestLimits;
}
