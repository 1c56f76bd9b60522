import type { LimitedKind, LimitKind } from '../../plugin/errors.ts';

export const LIMIT_KINDS: readonly LimitKind[] = ['requests', 'tokens', 'concurrency'];
export const LIMITED_KINDS: readonly LimitedKind[] = ['organization', 'team', 'key', 'entry', 'address'];

/** Limits of one caller that no settings have. */
export interface OwnLimits {
  readonly requests?: { readonly count: number; readonly perMs: number };
  readonly tokens?: { readonly count: number; readonly perMs: number };
  readonly concurrency?: number;
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
