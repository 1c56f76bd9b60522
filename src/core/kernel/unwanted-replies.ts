import type { Signals } from '../../formats/events.ts';
import { UpstreamError } from '../../plugin/errors.ts';

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
