import type { Conversation, JsonObject } from './conversation.ts';
import { joinLosses } from './losses.ts';
import { RequestFault, type EncodedRequest, type Format, type Portable, type ReplyContext } from './format.ts';
import type { RequestTarget } from './format.ts';
import { Origins } from './origins.ts';
import { namedLosses, namedPlace, type Caller } from './places.ts';

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
  const callers = new Callers(client, body, read);
  const encoded = inCallersWords(
    () => upstream.encodeRequest(change(conversation), target, reply),
    () => callers.portable,
  );
  const { unread = NOTHING } = read;
  if (losses.length === 0 && encoded.losses.length === 0) return { ...encoded, losses: unread };
  return {
    ...encoded,
    losses: joinLosses(unread, namedLosses(losses, callers.read), namedLosses(encoded.losses, callers.portable)),
  };
}

const NOTHING: readonly never[] = [];

function portable(client: Format, conversation: Conversation, origins?: Origins): Portable {
  return client.toPortable?.(conversation, origins) ?? { conversation, losses: [] };
}

/**
 * The caller's body as it was read, and as other formats can say it. Places are noted in a second reading, which a request that
 * loses no turn, part or tool does without: reading is pure, so it gives the same conversation.
 */
class Callers {
  readonly #client: Format;
  readonly #body: JsonObject;
  readonly #conversation: Conversation;
  #again: { readonly origins: Origins; readonly conversation: Conversation } | undefined;

  constructor(client: Format, body: JsonObject, conversation: Conversation) {
    this.#client = client;
    this.#body = body;
    this.#conversation = conversation;
  }

  get read(): Caller {
    return this.#caller(() => this.#readAgain());
  }

  get portable(): Caller {
    return this.#caller(() => {
      const { origins, conversation } = this.#readAgain();
      return { origins, conversation: portable(this.#client, conversation, origins).conversation };
    });
  }

  #caller(located: Caller['located']): Caller {
    return { client: this.#client, body: this.#body, conversation: this.#conversation, located };
  }

  #readAgain() {
    if (this.#again) return this.#again;
    const origins = new Origins();
    return (this.#again = { origins, conversation: this.#client.decodeRequest(this.#body, origins) });
  }
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
