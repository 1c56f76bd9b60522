import type { Loss } from '../formats/conversation.ts';
import type { UpstreamFailure } from '../formats/events.ts';

/**
 * What a place wants besides the format that is spoken there. Pure; what the format has written is changed by it before it leaves,
 * and what comes back before it is read.
 */
export interface Quirks {
  /** Whether a feature of the format's (`ModelFeatures`) may be asked for by this name; the others are left out and reported. */
  readonly takesFeature?: (name: string) => boolean;
  readonly envelope?: BodyEnvelope;
  /** A larger request is refused before anything of it is sent: megabytes on the way to a refusal help nobody. */
  readonly bodyLimit?: BodyLimit;
  /** A failure of the upstream's with what an operator should know of it. */
  readonly explain?: (failure: UpstreamFailure) => UpstreamFailure;
}

export interface BodyLimit {
  readonly bytes: number;
  /** Whose it is, and how they write it, for the message. */
  readonly words: string;
}

/** A request and its reply are inside of something else. */
export interface BodyEnvelope {
  /** @param body JSON of the format */
  wrap(body: Buffer, stream: boolean): Wrapped;
  /** @param bytes the whole reply. Throws ReplyFault. */
  unwrap(bytes: Buffer): Buffer;
}

export interface Wrapped {
  readonly body: Buffer;
  readonly losses: readonly Loss[];
}
