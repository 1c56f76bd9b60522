import type { Signals, UpstreamFailure, Usage } from '../../../formats/events.ts';
import type { Attempt, TryRecord } from '../../../core/kernel/index.ts';
import { believedUsage } from '../../../core/record/booked-usage.ts';
import type { ErrorCode, ModelTask } from '../../../plugin/index.ts';

/** Tasks whose usage the bytes of request and reply estimate. */
export const BY_BYTES: ReadonlySet<ModelTask | undefined> = new Set(['generate', 'completions', 'embeddings']);

/** Failures that readers of the gateway find in a reply. All others are the upstream's own. */
const FOUND_BY_READERS: ReadonlySet<string | undefined> = new Set([undefined, 'unreadable_reply', 'reply_too_large']);

const isReported = ({ kind, code }: UpstreamFailure): boolean => code !== undefined || !FOUND_BY_READERS.has(kind);

/**
 * A request that brought neither a count nor content, because the client left, a timeout passed or the connection
 * broke: the upstream may go on and charge. A redirect, a web page and a reported failure are not among these.
 */
export function isUndelivered({ firstByteAt }: TryRecord, signals: Signals | undefined): boolean {
  if (!signals) return firstByteAt === undefined;
  const { usage, content, text, ended, failure } = signals;
  return !usage && !content && text === 0 && !ended && !(failure && isReported(failure));
}

/** The upstream's usage of a complete reply, or of one that it reports as failed. */
export function reportedUsage(
  attempt: Attempt,
  { errorCode, bytes }: { readonly errorCode: ErrorCode | undefined; readonly bytes: number },
): Usage | undefined {
  const { signals } = attempt;
  const isWhole = (signals?.ended && errorCode === undefined) || signals?.failure?.isCounted;
  return isWhole ? believedUsage(attempt, signals, bytes) : undefined;
}
