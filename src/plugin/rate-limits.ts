import type { GatewayError } from './errors.ts';
import type { Attempt, Exchange } from './exchange.ts';

/** What a limit counts. */
export const LIMIT_KINDS = ['requests', 'tokens', 'concurrency'] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** What has limits: the nodes above a request's key, the catalog entry of its target, an address without a key. */
export const LIMITED_KINDS = ['organization', 'team', 'key', 'entry', 'address'] as const;
export type LimitedKind = (typeof LIMITED_KINDS)[number];

/** The limit that refused a request. */
export interface RefusedLimit {
  readonly limit: LimitKind;
  readonly node: LimitedKind;
  /** It depends on the target: another target may take the request. */
  readonly ofTarget: boolean;
}

/** A limit that applies to a request. */
export interface AppliedLimit {
  readonly node: LimitedKind;
  /** Id of the organization, the team or the key; slug of the catalog entry. */
  readonly id: string;
  /** Pattern of the models to which it applies. Undefined: all. */
  readonly models: string | undefined;
  readonly limit: LimitKind;
  readonly count: number;
  /** Undefined for concurrency. */
  readonly perMs: number | undefined;
}

/** The state of a rate for the client. */
export interface RateFigure {
  /** Units that the settings allow in the time of the rate. */
  readonly limit: number;
  /** Units that could be used now. */
  readonly remaining: number;
  /** Milliseconds until as many are available as ever are. */
  readonly resetMs: number;
}

/** The rates of the caller that are nearest to their end. */
export interface RateFigures {
  readonly requests?: RateFigure;
  readonly tokens?: RateFigure;
}

/** The limits of a request's caller, with their state. */
export interface CallerLimits {
  readonly applied: readonly AppliedLimit[];
  figures(): RateFigures;
}

/** Limits of rates and of concurrency. Each method takes from all limits that apply, or refuses and takes from none. */
export interface RateGates {
  /** Requests and concurrency of the caller. The end of the exchange gives the concurrency back. */
  enter(exchange: Exchange): GatewayError | undefined;
  /**
   * Tokens of the caller, by an estimate from the body. The end of the exchange corrects it by what the upstreams report.
   */
  takeTokens(exchange: Exchange): GatewayError | undefined;
  /** The limits of a target: those of its catalog entry, and those of entry and caller for its model. */
  enterTarget(exchange: Exchange, attempt: Attempt): TargetTicket | GatewayError | undefined;
  /** The same limits, of which nothing is taken. */
  readonly looking: RateGates;
}

/** What an attempt holds of the limits of its target. */
export interface TargetTicket {
  /** Gives the place back and corrects the tokens by what the attempt has used. */
  leave(): void;
}
