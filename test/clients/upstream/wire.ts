import type { Answer, Ask } from './ask.ts';
import type { SeenRequest } from '../../support/upstream.ts';

/** One upstream API as its own server speaks it: strict in what it reads, faithful in what it writes. */
export interface Wire {
  /** Throws Refusal for what the vendor's server answers with a 400. */
  read(request: SeenRequest): Ask;
  reply(answer: Answer, request: SeenRequest): object;
  /** The events of a stream, framed. */
  stream(answer: Answer, request: SeenRequest): readonly string[];
  error(status: number, message: string, retryAfter?: number): ErrorReply;
  /** The frame that tells of a failure in a running stream. */
  readonly streamError: string;
}

interface ErrorReply {
  readonly status: number;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

/** Seconds, unless a test chooses others. */
export const RETRY_AFTER = 7;

/** A text in two pieces, as it streams. */
export const halves = (text: string): readonly string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter(Boolean);
};
