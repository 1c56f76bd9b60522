import type { Signals, UpstreamFailure, Usage } from '../../formats/events.ts';
import type { TryRecord } from '../kernel/index.ts';

/** Of English text, for the models of all vendors. */
const BYTES_PER_TOKEN = 4;

interface Seen {
  /** Of the request. */
  readonly bytes: number;
  /** The last counts of the upstream. */
  readonly counted: Usage | undefined;
  /** Tokens of the part of the answer that arrived. */
  readonly delivered: number;
}

/** By the last counts of the upstream, and no less than what arrived. */
export function estimatedUsage({ bytes, counted, delivered }: Seen): Usage {
  const input = counted?.input ?? Math.ceil(bytes / BYTES_PER_TOKEN);
  const output = Math.max(counted?.output ?? 0, delivered);
  return { ...counted, input, output, total: input + output };
}

/** Of a stream so far: by its text, and no fewer than its pieces, because a piece has one token or more. */
export const deliveredTokens = ({ progress, text }: Signals): number =>
  Math.max(progress, Math.ceil(text / BYTES_PER_TOKEN));

interface Answered {
  readonly signals: Signals | undefined;
  readonly stream: boolean;
  /** Bytes of the reply. */
  readonly bytesIn: number;
  /** Tokens of the longest answer that the request allows; undefined: not known. */
  readonly longest: number | undefined;
}

/** Tokens of the part of an answer that arrived. A plain reply counts when it is complete: no part of another arrives. */
export function deliveredOf({ signals, stream, bytesIn, longest = Infinity }: Answered): number {
  if (!signals) return 0;
  if (stream) return deliveredTokens(signals);
  if (!signals.ended || signals.usage) return 0;
  const bytes = signals.text > 0 ? signals.text : Math.min(bytesIn, longest * BYTES_PER_TOKEN);
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Failures that readers of the gateway find in a reply. All others are the upstream's own. */
const FOUND_BY_READERS: ReadonlySet<string | undefined> = new Set([undefined, 'unreadable_reply', 'reply_too_large']);

const isReported = ({ kind, code }: UpstreamFailure): boolean => code !== undefined || !FOUND_BY_READERS.has(kind);

/**
 * A request that was sent and brought neither a count nor content, because the client left, a timeout passed or the connection broke.
 * The upstream may go on, and charge for an answer that it never delivers. An answer that is no reply of an API, such as a redirect or a
 * web page, and a failure that the upstream reports, are not among these.
 */
export function isUndelivered({ firstByteAt }: TryRecord, signals: Signals | undefined): boolean {
  if (!signals) return firstByteAt === undefined;
  const { usage, content, text, ended, failure } = signals;
  return !usage && !content && text === 0 && !ended && !(failure && isReported(failure));
}
