import { isWithin, UNKNOWN_MOST } from '../../formats/counts.ts';
import type { Signals, Usage } from '../../formats/events.ts';
import type { Attempt, Exchange, TryRecord } from '../kernel/index.ts';
import type { ModelTask } from '../../plugin/index.ts';

/**
 * The usage of a reply as the provider counts it. Undefined where it cannot be true: its counts contradict each other,
 * or exceed the limits of the model and the bytes of request and reply.
 * @param bytes of the request
 */
export function believedUsage(
  { resolved, tries }: Pick<Attempt, 'resolved' | 'tries'>,
  signals: Signals | undefined,
  bytes: number,
): Usage | undefined {
  const usage = signals?.usage;
  if (!usage) return undefined;
  const { input, output } = resolved?.mostUsage ?? UNKNOWN_MOST;
  // A reply may hold several answers, each as long as the model allows.
  const most = usage.output <= output ? output : output + tries.reduce((sum, { bytesIn }) => sum + bytesIn, 0);
  return isWithin(usage, Math.max(input, bytes), most) ? usage : undefined;
}

/** Of English text, for the models of all vendors. */
const BYTES_PER_TOKEN = 4;

interface Seen {
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
  readonly bytesIn: number;
  /** Tokens of the longest answer that the request allows; undefined: not known. */
  readonly longest: number | undefined;
}

/** Tokens of the part of an answer that arrived. A plain reply counts when it is complete: no part of another arrives. */
function deliveredOf({ signals, stream, bytesIn, longest = Infinity }: Answered): number {
  if (!signals) return 0;
  if (stream) return deliveredTokens(signals);
  if (!signals.ended || signals.usage) return 0;
  const bytes = signals.text > 0 ? signals.text : Math.min(bytesIn, longest * BYTES_PER_TOKEN);
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** By the bytes of the request, and the text and pieces of its reply. */
export function estimatedUsageOf(
  { bytesIn }: TryRecord,
  signals: Signals | undefined,
  { attempt, task, bytes }: { readonly attempt: Attempt; readonly task: ModelTask | undefined; readonly bytes: number },
): Usage {
  const { reply, outbound, reserve } = attempt;
  const stream = reply?.stream ?? outbound?.stream ?? false;
  const hasOutput = task !== 'embeddings';
  const delivered = hasOutput ? deliveredOf({ signals, stream, bytesIn, longest: reserve?.mostOutput }) : 0;
  return estimatedUsage({ bytes, counted: believedUsage(attempt, signals, bytes), delivered });
}

/**
 * In place of a report that cannot be true it is the reserve, or the estimate by bytes where nothing was reserved.
 * @param believed of the attempt's own signals
 */
export function bookedUsage(exchange: Exchange, attempt: Attempt, believed: Usage | undefined): Usage | undefined {
  const { signals, tries, reserve } = attempt;
  const bytes = exchange.request.bodyBytes;
  const last = tries.at(-1);
  if (believed || !signals?.usage || !last) return believed;
  if (!reserve) return estimatedUsageOf(last, signals, { attempt, task: exchange.operation?.task, bytes });
  const { prompt, answers } = reserve;
  return { input: prompt, output: answers, total: prompt + answers };
}
