/** The unit that a limit counts. */
export const LIMIT_KINDS = ['requests', 'tokens', 'concurrency'] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** An owner of limits: the nodes above a request's key, the catalog entry of its target, an address without a key. */
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
