import type { Loss } from '../formats/conversation.ts';
import type { UpstreamFailure } from '../formats/events.ts';

/**
 * Deviations of one API from its format. Pure functions that change the encoded request before it is sent and the reply before it
 * is decoded.
 */
export interface Quirks {
  /** True for a feature of the format (`ModelFeatures`) that the API accepts by this name; others are removed and reported. */
  readonly takesFeature?: (name: string) => boolean;
  readonly envelope?: BodyEnvelope;
  /** A larger request is refused before any of it is sent, because the upstream would refuse it after the upload. */
  readonly bodyLimit?: BodyLimit;
  /** Adds advice for the operator to a failure of the upstream. */
  readonly explain?: (failure: UpstreamFailure) => UpstreamFailure;
}

export interface BodyLimit {
  readonly bytes: number;
  /** The owner of the limit, with the limit in its documentation's words, for the message. */
  readonly words: string;
}

/** An envelope around the body of a request and of its reply. */
export interface BodyEnvelope {
  /** @param body JSON of the format */
  wrap(body: Buffer, stream: boolean): Wrapped;
  /** @param bytes the complete reply. Throws ReplyFault. */
  unwrap(bytes: Buffer): Buffer;
}

export interface Wrapped {
  readonly body: Buffer;
  readonly losses: readonly Loss[];
}
