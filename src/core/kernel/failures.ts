import type { Signals } from '../../formats/events.ts';
import { UpstreamError, type GatewayError } from '../../plugin/errors.ts';
import { failureKinds, type FailureKind } from '../../plugin/failures.ts';

/** Which failures of a group's member fall through to the next member. */
export interface FallThroughRules {
  readonly kinds: ReadonlySet<FailureKind>;
  readonly statusCodes: ReadonlySet<number>;
  /** These kinds end the chain even when `kinds` or `statusCodes` match. */
  readonly stop: ReadonlySet<FailureKind>;
}

/** Whether the group's rules send the request to its next member after this failure. */
export function fallsThroughTo({ kinds, statusCodes, stop }: FallThroughRules, error: GatewayError): boolean {
  const own = failureKinds(error);
  if (own.length === 0 || own.some((kind) => stop.has(kind))) return false;
  return statusCodes.has(error.status) || own.some((kind) => kinds.has(kind));
}

/** The same request to the same model would fail again, so it is never sent there again. */
export function isFinalForModel(error: unknown): boolean {
  return (
    error instanceof UpstreamError && (error.code === 'context_length_exceeded' || error.code === 'content_filter')
  );
}

/** Statuses below 500 that report the upstream's own failure, whatever the token. */
const OF_UPSTREAM: ReadonlySet<number> = new Set([408, 499]);

/** Whether the failure depends on the account behind the caller's token, as every 4xx but `OF_UPSTREAM` does. */
export const isOfCallersToken = ({ toCallersToken, status }: GatewayError): boolean =>
  toCallersToken && status < 500 && !OF_UPSTREAM.has(status);

/** Kinds of failures of the place of a target, whatever the model. */
const OF_PLACE: ReadonlySet<FailureKind> = new Set([
  'connection',
  'credentials',
  'auth',
  'quota',
  'timeout_connect',
  'gateway_full',
]);

/** Whether another model at the same place might have answered: an error status or a silence of the upstream, or a broken stream. */
export const isOfModel = (error: GatewayError): boolean =>
  error instanceof UpstreamError && !failureKinds(error).some((kind) => OF_PLACE.has(kind));

/** Whether the upstream refused the account of the request: its credentials, or for want of credit. Some refuse one model so. */
export const isOfAccount = (error: GatewayError): boolean =>
  error instanceof UpstreamError && failureKinds(error).some((kind) => kind === 'auth' || kind === 'quota');

/** Complete replies that a config counts as failures of their target, so that another target answers. */
export interface UnwantedReplies {
  /** `empty` in `on_errors` */
  readonly empty: boolean;
  /** `on_finish_reasons`: OpenAI's words and the providers' own. */
  readonly finishReasons: ReadonlySet<string>;
}

/** How a reply ended. `finish` is set for a generation only. */
export type ReplyEnding = Pick<Signals, 'ended' | 'output' | 'blocked' | 'finish' | 'nativeFinish'>;

/** Stops of Anthropic's API after which the client continues the same turn. */
const PAUSES: ReadonlySet<string | undefined> = new Set(['pause_turn', 'compaction']);

/** The failure that the rules make of a reply with this ending. */
export function unwantedReply(
  rules: UnwantedReplies | undefined,
  ending: ReplyEnding | undefined,
  provider?: string,
): UpstreamError | undefined {
  if (!rules || ending?.finish === undefined) return undefined;
  const { finish, nativeFinish, ended, output, blocked } = ending;
  const details = provider === undefined ? {} : { provider };
  const word = [nativeFinish, finish].find((one) => one !== undefined && rules.finishReasons.has(one));
  if (word !== undefined)
    return new UpstreamError('unwanted_finish', `The reply ended with the finish reason ${word}.`, details);
  if (!rules.empty || !ended || output || blocked || PAUSES.has(nativeFinish)) return undefined;
  return new UpstreamError('empty_reply', 'The reply has no text and no call.', details);
}
