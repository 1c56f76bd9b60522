import { PlaceFinder, type PlaceSpellings } from './body-places.ts';
import type { Conversation, JsonObject, Loss, Part, Turn } from '../conversation.ts';
import type { Format } from '../format.ts';
import { LossReport, MAX_NAMED } from './losses.ts';
import type { Origins } from './origins.ts';
import { isObject } from '../json/object.ts';

/** A request as its caller wrote it, and the conversation it became. */
export interface CallerBody {
  readonly client: Pick<Format, 'clientPaths'>;
  readonly body: JsonObject;
  readonly conversation: Conversation;
  /** The conversation that places are in: the same one, or the one that other formats can say. */
  readonly located: Conversation;
  readonly origins: Origins;
}

/** Losses at the caller's own fields. One may be about several, and several about one. */
export function namedLosses(losses: readonly Loss[], caller: CallerBody): readonly Loss[] {
  const places = new Places(caller);
  const finder = new PlaceFinder(caller.body);
  const named = new LossReport();
  for (const loss of losses) {
    if (loss.count !== undefined) {
      named.add(loss);
      continue;
    }
    const { spellings, further = 0 } = places.of(loss.param);
    for (const one of spellings) {
      if (named.isFull) named.count(loss.action, 1);
      else named.add({ ...loss, param: finder.nearest(one) });
    }
    named.count(loss.action, further);
  }
  return named.list();
}

/** The first of them: an error has one. */
export function namedPlace(param: string, missing: boolean, caller: CallerBody): string {
  const [place = [param] satisfies PlaceSpellings] = new Places(caller).of(param).spellings;
  return missing ? place[0] : new PlaceFinder(caller.body).nearest(place);
}

interface FoundPlaces {
  readonly spellings: readonly PlaceSpellings[];
  /** So many places that are not in the list. */
  readonly further?: number;
}

/** Turns, parts and tools that are named by number. */
const THING = /^(messages|tools)\[(\d+)\](?:\.(tool_calls|content)\[(\d+)\])?(?:\.content\[(\d+)\])?/;

interface Message {
  readonly turn: Turn;
  readonly result?: Extract<Part, { type: 'tool_result' }>;
}

/**
 * Formats name turns, parts and tools of the conversation as OpenAI's API would, which they were first written for: a message for
 * each turn but for each result of a tool turn, `tool_calls` counted for themselves, every part at its index.
 */
class Places {
  readonly #caller: CallerBody;
  /** Number of the first message of each turn. */
  #starts: readonly number[] | undefined;
  readonly #calls = new Map<readonly Part[], readonly Part[]>();

  constructor(caller: CallerBody) {
    this.#caller = caller;
  }

  of(param: string): FoundPlaces {
    return this.#partial(param) ?? this.#ofThing(param) ?? { spellings: [this.#respelled(param)] };
  }

  /** A field whose rest alone has no place here (`output_config` but for the effort): the rest is what is lost. */
  #partial(param: string): FoundPlaces | undefined {
    const { body, conversation } = this.#caller;
    const { extras } = conversation;
    const rest = extras && Object.hasOwn(extras, param) ? extras[param] : undefined;
    if (!isObject(rest) || !isObject(body[param]) || body[param] === rest) return undefined;
    return membersOf(rest, param);
  }

  #ofThing(param: string): FoundPlaces | undefined {
    const match = THING.exec(param);
    if (!match) return undefined;
    const [named, list, ...numbers] = match;
    const [at, field, index, inner] = [Number(numbers[0]), numbers[1], numbers[2], numbers[3]];
    const { located: conversation, origins } = this.#caller;
    if (list === 'tools') {
      const origin = origins.of(conversation.tools?.[at]);
      // A path below it may have any form (a schema's): only its beginning is another one.
      if (origin === undefined) return undefined;
      return { spellings: [this.#respelled(origin + param.slice(`tools[${at}]`.length))] };
    }
    const found = this.#messageAt(at);
    if (!found) return undefined;
    const { turn, result } = found;
    const part = field === undefined ? result : this.#partAt(result?.content ?? turn.parts, field, Number(index));
    const whole = inner === undefined || part?.type !== 'tool_result' ? part : part.content[Number(inner)];
    const origin = origins.of(whole ?? turn);
    if (origin === undefined) return undefined;
    if (whole?.type === 'opaque' && whole.attached) {
      // The block that attached fields were taken from (conversation.ts).
      return membersOf(whole.value, origin, 'type');
    }
    return { spellings: [this.#respelled(origin + param.slice(named.length))] };
  }

  #messageAt(wanted: number): Message | undefined {
    const { turns } = this.#caller.located;
    this.#starts ??= startsOf(turns);
    const at = lastUpTo(this.#starts, wanted);
    const [turn, start] = [turns[at], this.#starts[at]];
    if (!turn || start === undefined || wanted >= start + messagesOf(turn)) return undefined;
    const part = turn.role === 'tool' ? turn.parts[wanted - start] : undefined;
    return part?.type === 'tool_result' ? { turn, result: part } : { turn };
  }

  #partAt(parts: readonly Part[], field: string, index: number): Part | undefined {
    if (field === 'content') return parts[index];
    let calls = this.#calls.get(parts);
    if (!calls) this.#calls.set(parts, (calls = parts.filter(({ type }) => type === 'tool_call')));
    return calls[index];
  }

  #respelled(place: string): PlaceSpellings {
    const [first, ...others] = this.#caller.client.clientPaths?.(place) ?? [];
    return first === undefined ? [place] : [first, ...others];
  }
}

function membersOf(fields: JsonObject, origin: string, without?: string): FoundPlaces {
  const keys = Object.keys(fields).filter((key) => key !== without);
  const spellings = keys.slice(0, MAX_NAMED).map((key): PlaceSpellings => [`${origin}.${key}`]);
  return { spellings, further: keys.length - spellings.length };
}

function startsOf(turns: readonly Turn[]): readonly number[] {
  let at = 0;
  return turns.map((turn) => {
    const start = at;
    at += messagesOf(turn);
    return start;
  });
}

/** Index of the last number that is not above `wanted`, in a list that only grows. */
function lastUpTo(numbers: readonly number[], wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** OpenAI's tool messages in a row are one turn of the conversation. */
export function messagesOf(turn: Turn): number {
  return turn.role === 'tool' ? Math.max(1, turn.parts.length) : 1;
}
