import type { Conversation, JsonObject } from './conversation.ts';
import { joinLosses } from './losses/losses.ts';
import { fitNames } from './name-aliases.ts';
import { RequestFault } from './faults.ts';
import type { EncodedRequest, Format, ReplyContext } from './format.ts';
import type { RequestTarget } from './request-target.ts';
import { Origins } from './losses/origins.ts';
import type { Steps } from './steps.ts';
import { namedLosses, namedPlace, type CallerBody } from './losses/places.ts';
import { refuseNumbers } from './number-ranges.ts';
import { refuseElsewhere } from './residency.ts';
import { refuseUntranslated } from './untranslated-tools.ts';

interface RequestTranslation {
  readonly client: Format;
  readonly upstream: Format;
  readonly target: RequestTarget;
  readonly reply: ReplyContext;
  /** Fields beside those of the body that losses and faults may name. */
  readonly alsoNamed?: JsonObject | undefined;
  /** Edits the conversation before it is encoded. Turns and tools stay the same objects: origins.ts finds them. */
  readonly change?: (conversation: Conversation) => Conversation;
}

/**
 * Translates a body of one format into a body of another. Losses and faults name fields of the caller's body in the
 * caller's spelling, because the caller reads them. Throws RequestFault.
 */
export function* translateRequest(body: JsonObject, translation: RequestTranslation): Steps<EncodedRequest> {
  const { client, upstream, target, reply, change, alsoNamed } = translation;
  const places = alsoNamed ? { ...body, ...alsoNamed } : body;
  const origins = new Origins();
  const read = client.decodeRequest(body, origins);
  yield;
  // A body that stays in its format keeps what only this format has.
  const portable = client.name === upstream.name ? undefined : client.toPortable(read, origins);
  const conversation = portable ? portable.conversation : read;
  let encoded: EncodedRequest;
  try {
    const changed = change ? change(conversation) : conversation;
    if (client.name === upstream.name) encoded = yield* upstream.encodeRequest(changed, target, reply);
    else {
      refuseUntranslated(conversation.tools, upstream.name);
      refuseNumbers(changed, upstream.name, target);
      refuseElsewhere(changed, upstream.name, target);
      const { conversation: fitted, toolNames } = fitNames(changed, upstream.name, target);
      encoded = yield* upstream.encodeRequest(fitted, target, toolNames ? { ...reply, toolNames } : reply);
    }
  } catch (error) {
    throw withCallerPath(error, { client, body: places, conversation: read, located: conversation, origins });
  }
  yield;
  const { unread = NOTHING } = read;
  const losses = portable ? portable.losses : NOTHING;
  const echoed = client.echo(body, read);
  const echo = echoed && { echo: echoed };
  if (losses.length === 0 && encoded.losses.length === 0) {
    return unread.length === 0 && !echo ? encoded : { ...encoded, losses: unread, ...echo };
  }
  const caller: CallerBody = { client, body: places, conversation: read, located: conversation, origins };
  return {
    ...encoded,
    ...echo,
    losses: joinLosses(
      unread,
      losses.length === 0 ? losses : namedLosses(losses, { ...caller, located: read }),
      namedLosses(encoded.losses, caller),
    ),
  };
}

const NOTHING: readonly never[] = [];

function withCallerPath(error: unknown, caller: CallerBody): unknown {
  if (!(error instanceof RequestFault) || error.param === null) return error;
  const { code, param, message } = error;
  const place = namedPlace(param, code === 'missing_required_parameter', caller);
  return place === param ? error : new RequestFault(code, renamed(message, param, place), place);
}

/** Fault messages name the place at their start or in backticks. */
function renamed(message: string, param: string, place: string): string {
  const words = message.replaceAll(`\`${param}\``, `\`${place}\``);
  return words.startsWith(`${param} `) || words.startsWith(`${param}:`) ? place + words.slice(param.length) : words;
}
