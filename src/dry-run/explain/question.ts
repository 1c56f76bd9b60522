import type { Caller, GatewayError, Secret } from '../../plugin/index.ts';
import type { FrozenHealth } from './frozen-health.ts';

/** A request that is to be explained. */
export interface ExplainQuestion {
  readonly method: string;
  /** With its query, where it has one. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Credentials that are not in the headers any more, and are in the body. */
  readonly secrets?: readonly Secret[];
  /** Who asks, where no key in the headers says it: the id of a key of keys.yaml, or a caller that is known already. */
  readonly as?: string | Caller | undefined;
  readonly remoteAddress?: string;
  /** Default: the one in `x-request-id`, or a new one. */
  readonly id?: string | undefined;
  /** 0 ≤ x < 1, one for each draw of a load balance; the last one stands for all behind it. Default: 0. */
  readonly draws?: readonly number[] | undefined;
  /** When it is asked. Default: now. */
  readonly at?: { readonly now: number; readonly wall: number } | undefined;
  /** What the attempts failed with, in their order; one that is not there is supposed to fail so that the next target is asked. */
  readonly failures?: readonly (GatewayError | undefined)[] | undefined;
  /** How the targets did then. Default: as they do now. */
  readonly health?: FrozenHealth | undefined;
}
