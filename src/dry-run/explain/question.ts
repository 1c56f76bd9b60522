import type { Caller, GatewayError, Secret } from '../../plugin/index.ts';
import type { FrozenHealth } from './frozen-health.ts';

/** A request to explain. */
export interface ExplainQuestion {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Credentials that were removed from the headers but occur in the body. */
  readonly secrets?: readonly Secret[];
  /** The caller, when no key in the headers identifies it: the id of a key of keys.yaml, or a known caller. */
  readonly as?: string | Caller | undefined;
  readonly remoteAddress?: string;
  /** Default: the id in `x-request-id`, or a new one. */
  readonly id?: string | undefined;
  /** Random numbers, 0 ≤ x < 1, one for each draw of a load balance; the last one repeats. Default: 0. */
  readonly draws?: readonly number[] | undefined;
  /** Time of the request. Default: now. */
  readonly at?: { readonly now: number; readonly wall: number } | undefined;
  /** Failures of the attempts, in order. A missing one is assumed to fail so that the next target is tried. */
  readonly failures?: readonly (GatewayError | undefined)[] | undefined;
  /** Health of the targets at that time. Default: current health. */
  readonly health?: FrozenHealth | undefined;
}
