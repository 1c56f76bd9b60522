import { PlaceFinder, type PlaceSpellings } from './body-places.ts';
import type { Conversation, JsonObject, Loss, Part, ToolResultPart, Turn } from '../conversation.ts';
import type { Format } from '../format.ts';
import { LossReport, MAX_NAMED } from './losses.ts';
import type { Origins } from './origins.ts';
import { isObject } from '../json/object.ts';

/** A request as its caller wrote it, and its decoded conversation. */
export interface CallerBody {
  readonly client: Pick<Format, 'clientPaths'>;
  readonly body: JsonObject;
  readonly conversation: Conversation;
  /** The conversation that places refer to: the decoded one, or its portable form. */
  readonly located: Conversation;
  readonly origins: Origins;
}

/** Losses with the paths of the caller's own fields. Each loss may concern several fields, and the reverse. */
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

/** The first path only: an error names one parameter. */
export function namedPlace(param: string, missing: boolean, caller: CallerBody): string {
  const [place = [param] satisfies PlaceSpellings] = new Places(caller).of(param).spellings;
  return missing ? place[0] : new PlaceFinder(caller.body).nearest(place);
}

interface FoundPlaces {
  readonly spellings: readonly PlaceSpellings[];
  /** Number of places beyond the list. */
  readonly further?: number;
}

/** Paths of turns, parts and tools, which count by number. */
const NODE = /^(messages|tools)\[(\d+)\](?:\.(tool_calls|content)\[(\d+)\])?(?:\.content\[(\d+)\])?/;

interface Message {
  readonly turn: Turn;
  readonly result?: ToolResultPart;
}

/**
 * Finds the places that encoders name in the caller's body. Encoders name turns, parts and tools as OpenAI's API does,
 * which they were first written for: one message per turn, but one per result of a tool turn; `tool_calls` have indexes
 * of their own; every other part counts at its index in the turn.
 */
class Places {
  readonly #caller: CallerBody;
  /** Number of the first message of each turn. */
  #starts: readonly number[] | undefined;
  #calls: Map<readonly Part[], readonly Part[]> | undefined;

  constructor(caller: CallerBody) {
    this.#caller = caller;
  }

  of(param: string): FoundPlaces {
    return this.#partial(param) ?? this.#ofNode(param) ?? { spellings: [this.#spellingsOf(param)] };
  }

  /** A field of which one member has a neutral place (`output_config.effort`): only its other members are lost. */
  #partial(param: string): FoundPlaces | undefined {
    const { body, conversation } = this.#caller;
    const { extras } = conversation;
    const rest = extras && Object.hasOwn(extras, param) ? extras[param] : undefined;
    if (!isObject(rest) || !isObject(body[param]) || body[param] === rest) return undefined;
    return membersOf(rest, param);
  }

  #ofNode(param: string): FoundPlaces | undefined {
    const match = NODE.exec(param);
    if (!match) return undefined;
    const [named, list, ...numbers] = match;
    const [at, field, index, inner] = [Number(numbers[0]), numbers[1], numbers[2], numbers[3]];
    const { located: conversation, origins } = this.#caller;
    if (list === 'tools') {
      const origin = origins.of(conversation.tools?.[at]);
      // The path below the tool may have any form (inside a schema): only its prefix is replaced.
      if (origin === undefined) return undefined;
      return { spellings: [this.#spellingsOf(origin + param.slice(`tools[${at}]`.length))] };
    }
    const found = this.#messageAt(at);
    if (!found) return undefined;
    const { turn, result } = found;
    const part = field === undefined ? result : this.#partAt(result?.content ?? turn.parts, field, Number(index));
    const whole = inner === undefined || part?.type !== 'tool_result' ? part : part.content[Number(inner)];
    const origin = origins.of(whole ?? turn);
    if (origin === undefined) return undefined;
    if (whole?.type === 'opaque' && whole.attached) {
      // Attached fields are named at the block they were taken from (conversation.ts).
      return membersOf(whole.value, origin, 'type');
    }
    return { spellings: [this.#spellingsOf(origin + param.slice(named.length))] };
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
    const known = (this.#calls ??= new Map<readonly Part[], readonly Part[]>());
    let calls = known.get(parts);
    if (!calls) known.set(parts, (calls = parts.filter(({ type }) => type === 'tool_call')));
    return calls[index];
  }

  #spellingsOf(place: string): PlaceSpellings {
    const [first, ...others] = this.#caller.client.clientPaths(place);
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

/** Index of the last number that is at most `wanted`, in an ascending list. */
function lastUpTo(numbers: readonly number[], wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Consecutive tool messages of OpenAI's API are one turn of the conversation. */
export function messagesOf(turn: Turn): number {
  return turn.role === 'tool' ? Math.max(1, turn.parts.length) : 1;
}

/** Spellings of an API: a pattern for places in the words of OpenAI's chat API, and the API's own words, the best first. */
type PathSpellings = readonly (readonly [RegExp, ...string[]])[];

/** `clientPaths` of an API (`Format`). */
export const pathsBy =
  (spellings: PathSpellings) =>
  (place: string): readonly string[] => {
    const [pattern, ...names] = spellings.find(([known]) => known.test(place)) ?? [];
    return pattern ? names.map((name) => place.replace(pattern, name)) : [];
  };
