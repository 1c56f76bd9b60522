import type { GatewayError } from '../../plugin/errors.ts';
import type { Attempt } from './attempt.ts';
import type { Exchange } from './exchange.ts';

/** Limits of rates and of concurrency. Each method takes from all limits that apply, or refuses and takes from none. */
export interface RateGates {
  /**
   * Asks other gateways for what is missing of the limits that they share: of requests and concurrency of the caller, of its tokens, or of
   * the limits of a target. Undefined: nothing to wait for; they share none. Resolves within 100 ms, and never rejects.
   */
  readonly fetch: ((exchange: Exchange, of?: 'tokens' | Attempt) => Promise<unknown> | undefined) | undefined;
  /** Requests and concurrency of the caller. The end of the exchange gives the concurrency back. */
  enter(exchange: Exchange): GatewayError | undefined;
  /** Tokens of the caller, by an estimate. The end of the exchange corrects it by the reported usage. */
  takeTokens(exchange: Exchange): GatewayError | undefined;
  /** The limits of a target: those of its catalog entry, and those of entry and caller for its model. */
  enterTarget(exchange: Exchange, attempt: Attempt): TargetTicket | GatewayError | undefined;
  /** The same limits, of which nothing is taken. */
  readonly looking: RateGates;
}

/** The share that an attempt holds of the limits of its target. */
export interface TargetTicket {
  /** Gives the place back and corrects the tokens by what the attempt has used. */
  leave(): void;
}
