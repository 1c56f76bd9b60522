import type { Signals, Usage } from '../../formats/events.ts';
import type { Attempt, Exchange, TryRecord } from '../kernel/index.ts';
import type { ErrorCode, ModelTask } from '../../plugin/index.ts';
import { believedUsage } from './believed-usage.ts';
import { deliveredOf, estimatedUsage } from './estimated-usage.ts';

/** Tasks whose tokens can be estimated by bytes. */
export const BY_BYTES: ReadonlySet<ModelTask | undefined> = new Set(['generate', 'completions', 'embeddings']);

/** A request that was sent. */
interface SentUsage {
  readonly attempt: Attempt;
  readonly task: ModelTask | undefined;
  /** Of its body. */
  readonly bytes: number;
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

/** By the bytes of the request, and the text and pieces of its reply. */
export function estimatedUsageOf(
  { bytesIn }: TryRecord,
  signals: Signals | undefined,
  { attempt, task, bytes }: SentUsage,
): Usage {
  const { reply, outbound, reserve } = attempt;
  const stream = reply?.stream ?? outbound?.stream ?? false;
  const hasOutput = task !== 'embeddings';
  const delivered = hasOutput ? deliveredOf({ signals, stream, bytesIn, longest: reserve?.mostOutput }) : 0;
  return estimatedUsage({ bytes, counted: believedUsage(attempt, signals, bytes), delivered });
}

/**
 * The usage of an attempt that is booked. In place of a report that cannot be true it is the reserve, or the estimate by bytes where
 * nothing was reserved.
 */
export function bookedUsage(exchange: Exchange, attempt: Attempt): Usage | undefined {
  const { signals, tries, reserve } = attempt;
  const bytes = exchange.request.bodyBytes;
  const believed = believedUsage(attempt, signals, bytes);
  const last = tries.at(-1);
  if (believed || !signals?.usage || !last) return believed;
  if (!reserve) return estimatedUsageOf(last, signals, { attempt, task: exchange.operation?.task, bytes });
  const { prompt, answers } = reserve;
  return { input: prompt, output: answers, total: prompt + answers };
}
