import type { FieldSource } from './explanation.ts';

/** The result of `gatehouse explain --headers`, as printed and as its JSON. Contains no header values. */
export interface HeaderPaths {
  readonly settings: { readonly folder: string; readonly hash: string };
  /** In the order of the configs, their targets and the catalog. */
  readonly paths: readonly HeaderPath[];
  /** Headers that are never forwarded, with any settings. */
  readonly never: readonly NeverSent[];
  /** Parts of the settings that were not examined. */
  readonly notes: readonly string[];
}

/** One header of a request that can reach one upstream. */
export interface HeaderPath {
  /** Lower-case name as clients send it. */
  readonly header: string;
  /** Lower-case name that the upstream receives. */
  readonly as: string;
  /** The catalog entry as `@slug`; `vertex-ai` or `custom host` for destinations that requests name themselves. */
  readonly provider: string;
  /** Undefined: requests without a config. */
  readonly config: string | undefined;
  /** Path in the config: `config.targets[1]`. */
  readonly target: string;
  readonly why: HeaderReason;
  /** The source that permits it. */
  readonly source: FieldSource;
}

/**
 * forwarded: the config names it. spoken: the header selects a version or features of the upstream's API. credential:
 * the provider gets the caller's own credential, unless it is a gateway key.
 */
export type HeaderReason = 'forwarded' | 'spoken' | 'credential';

export interface NeverSent {
  /** A name, or a prefix with a `*`. */
  readonly header: string;
  readonly why: string;
}
