import type { Conversation, JsonObject } from './conversation.ts';
import { joinLosses } from './losses/losses.ts';
import { RequestFault, type EncodedRequest, type Format, type ReplyContext } from './format.ts';
import type { RequestTarget } from './format.ts';
import { Origins } from './losses/origins.ts';
import type { Steps } from './steps.ts';
import { namedLosses, namedPlace, type CallerBody } from './losses/places.ts';

interface RequestTranslation {
  readonly client: Format;
  readonly upstream: Format;
  readonly target: RequestTarget;
  readonly reply: ReplyContext;
  /**
   * Edits the conversation before it is encoded. Turns and tools must stay the same objects: origins.ts looks their
   * places up by identity.
   */
  readonly change?: (conversation: Conversation) => Conversation;
}

/**
 * Translates a body of one format into a body of another. Losses and faults name fields of the caller's body in the
 * caller's spelling, because the caller reads them. Throws RequestFault.
 */
export function* translateRequest(body: JsonObject, translation: RequestTranslation): Steps<EncodedRequest> {
  const { client, upstream, target, reply, change = (same) => same } = translation;
  const origins = new Origins();
  const read = client.decodeRequest(body, origins);
  yield;
  // A body that stays in its format keeps what only this format has.
  const portable = client === upstream ? undefined : client.toPortable?.(read, origins);
  const { conversation, losses } = portable ?? { conversation: read, losses: NOTHING };
  const callerOf = (located: Conversation): CallerBody => ({ client, body, conversation: read, located, origins });
  const encoded = yield* withCallerPaths(upstream.encodeInSteps(change(conversation), target, reply), () =>
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

function* withCallerPaths<T>(work: Steps<T>, caller: () => CallerBody): Steps<T> {
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

/** Fault messages name the place at their start or in backticks. */
function renamed(message: string, param: string, place: string): string {
  const words = message.replaceAll(`\`${param}\``, `\`${place}\``);
  return words.startsWith(`${param} `) || words.startsWith(`${param}:`) ? place + words.slice(param.length) : words;
}
