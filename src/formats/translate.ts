import type { Conversation, JsonObject } from './conversation.ts';
import { RequestFault, type EncodedRequest, type Format, type Portable, type ReplyContext } from './format.ts';
import type { RequestTarget } from './format.ts';
import { Origins } from './origins.ts';
import { namedLosses, namedPlace, type Caller } from './places.ts';
import { lossesOfReading } from './unread.ts';

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
export function translateRequest(body: JsonObject, translation: RequestTranslation): EncodedRequest {
  const { client, upstream, target, reply, change = (same) => same } = translation;
  const read = client.decodeRequest(body);
  const { conversation, losses } = portable(client, read);
  const encoded = inCallersWords(
    () => upstream.encodeRequest(change(conversation), target, reply),
    () => readAgain(client, body).portable,
  );
  const all = [...losses, ...encoded.losses];
  if (all.length === 0) return { ...encoded, losses: lossesOfReading(read) };
  const callers = readAgain(client, body);
  return {
    ...encoded,
    losses: [
      ...lossesOfReading(read),
      ...namedLosses(losses, callers.read),
      ...namedLosses(encoded.losses, callers.portable),
    ],
  };
}

function portable(client: Format, conversation: Conversation, origins?: Origins): Portable {
  return client.toPortable?.(conversation, origins) ?? { conversation, losses: [] };
}

/** Only once something is lost: reading is pure, so this is the same conversation, with its places noted. */
function readAgain(client: Format, body: JsonObject): { readonly read: Caller; readonly portable: Caller } {
  const origins = new Origins();
  const conversation = client.decodeRequest(body, origins);
  const read = { client, body, conversation, origins };
  return { read, portable: { ...read, conversation: portable(client, conversation, origins).conversation } };
}

function inCallersWords<T>(work: () => T, caller: () => Caller): T {
  try {
    return work();
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
