import type { FieldSource } from './explanation.ts';

/** What `gatehouse explain --headers` tells; the JSON of it is the same. No value of any header is in it. */
export interface HeaderPaths {
  readonly settings: { readonly folder: string; readonly hash: string };
  /** In the order of the configs, their targets and the catalog. */
  readonly paths: readonly HeaderPath[];
  /** What goes upstream from nobody's request, whatever the settings say. */
  readonly never: readonly NeverSent[];
  /** What was not looked through. */
  readonly notes: readonly string[];
}

/** One header of a request that can reach one upstream. */
export interface HeaderPath {
  /** Lower-case name as clients send it. */
  readonly header: string;
  /** Lower-case name as the upstream gets it. */
  readonly as: string;
  /** Of the catalog entry, as `@slug`; `vertex-ai` and `custom host` for places that requests name themselves. */
  readonly provider: string;
  /** Undefined: requests without a config. */
  readonly config: string | undefined;
  /** Path in the config: `config.targets[1]`. */
  readonly target: string;
  readonly why: HeaderReason;
  /** What lets it through. */
  readonly source: FieldSource;
}

/**
 * forwarded: the config names it. spoken: callers say in it to the API that is spoken there which version and features they
 * want. credential: the provider is asked with the caller's own, where it is no gateway key.
 */
export type HeaderReason = 'forwarded' | 'spoken' | 'credential';

export interface NeverSent {
  /** A name, or a prefix with a `*`. */
  readonly header: string;
  readonly why: string;
}
