/** An upstream's error in its own words, without the credentials that were sent to it. Not truncated. */
export interface UpstreamReport {
  /** Undefined where it may quote a part of a credential, as refusals of keys do. */
  readonly message?: string;
  readonly param?: string;
  readonly code?: string;
}
