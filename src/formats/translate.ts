import type { Conversation, JsonObject } from './conversation.ts';
import { joinLosses } from './losses/losses.ts';
import { RequestFault, type EncodedRequest, type Format, type ReplyContext } from './format.ts';
import type { RequestTarget } from './format.ts';
import { Origins } from './losses/origins.ts';
import type { Steps } from './steps.ts';
import { namedLosses, namedPlace, type CallerBody } from './losses/places.ts';

export interface RequestTranslation {
  readonly client: Format;
  readonly upstream: Format;
  readonly target: RequestTarget;
  readonly reply: ReplyContext;
  /** What is asked for in place of what was read. Turns and tools stay as they are. */
  readonly change?: (conversation: Conversation) => Conversation;
}

/**
 * A body of one format as a body of another. Losses and faults are at fields of the caller's body, in its own words: it is the
 * one who reads them. Throws RequestFault.
 */
export function* translateRequest(body: JsonObject, translation: RequestTranslation): Steps<EncodedRequest> {
  const { client, upstream, target, reply, change = (same) => same } = translation;
  const origins = new Origins();
  const read = client.decodeRequest(body, origins);
  yield;
  const { conversation, losses } = client.toPortable?.(read, origins) ?? { conversation: read, losses: NOTHING };
  const callerOf = (located: Conversation): CallerBody => ({ client, body, conversation: read, located, origins });
  const encoded = yield* inCallersWords(upstream.encodeInSteps(change(conversation), target, reply), () =>
    callerOf(conversation),
  );
  yield;
  const { unread = NOTHING } = read;
  if (losses.length === 0 && encoded.losses.length === 0) return { ...encoded, losses: unread };
  return {
    ...encoded,
    losses: joinLosses(
      unread,
      namedLosses(losses, callerOf(read)),
      namedLosses(encoded.losses, callerOf(conversation)),
    ),
  };
}

const NOTHING: readonly never[] = [];

function* inCallersWords<T>(work: Steps<T>, caller: () => CallerBody): Steps<T> {
  try {
    return yield* work;
  } catch (error) {
    if (!(error instanceof RequestFault) || error.param === null) throw error;
    const { code, param, message } = error;
    const place = namedPlace(param, code === 'missing_required_parameter', caller());
    if (place === param) throw error;
    throw new RequestFault(code, renamed(message, param, place), place);
  }
}

/** Messages name the place in front, or in backticks. */
function renamed(message: string, param: string, place: string): string {
  const words = message.replaceAll(`\`${param}\``, `\`${place}\``);
  return words.startsWith(`${param} `) || words.startsWith(`${param}:`) ? place + words.slice(param.length) : words;
}
