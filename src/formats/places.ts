import type { Conversation, JsonObject, Loss, Part, Turn } from './conversation.ts';
import type { Format } from './format.ts';
import type { Origins } from './origins.ts';

/** A request as its caller wrote it, and the conversation it became. */
export interface Caller {
  readonly client: Pick<Format, 'respell'>;
  readonly body: JsonObject;
  readonly conversation: Conversation;
  readonly origins: Origins;
}

/** Losses at the caller's own fields. One may be about several, and several about one. */
export function namedLosses(losses: readonly Loss[], caller: Caller): readonly Loss[] {
  const named = new Map<string, Loss>();
  for (const loss of losses) {
    for (const place of placesOf(loss.param, caller)) {
      const param = nearest(place, caller);
      named.set(`${loss.action} ${param} ${loss.reason}`, { ...loss, param });
    }
  }
  return [...named.values()];
}

/** The first of them: an error has one. */
export function namedPlace(param: string, missing: boolean, caller: Caller): string {
  const [place = [param] satisfies Spellings] = placesOf(param, caller);
  return missing ? place[0] : nearest(place, caller);
}

/** Spellings of one place, the best first. */
type Spellings = readonly [string, ...string[]];

/**
 * Formats name turns, parts and tools of the conversation as OpenAI's API would, which they were first written for: a message for
 * each turn but for each result of a tool turn, `tool_calls` counted for themselves, every part at its index.
 */
function placesOf(param: string, caller: Caller): readonly Spellings[] {
  return partial(param, caller) ?? ofThing(param, caller) ?? [respelled(param, caller)];
}

/** A field whose rest alone has no place here (`output_config` but for the effort): the rest is what is lost. */
function partial(param: string, { body, conversation: { extras } }: Caller): readonly Spellings[] | undefined {
  const rest = extras && Object.hasOwn(extras, param) ? extras[param] : undefined;
  if (!isObject(rest) || !isObject(body[param]) || body[param] === rest) return undefined;
  return Object.keys(rest).map((key): Spellings => [`${param}.${key}`]);
}

const THING = /^(messages|tools)\[(\d+)\](?:\.(tool_calls|content)\[(\d+)\])?(?:\.content\[(\d+)\])?/;

function ofThing(param: string, caller: Caller): readonly Spellings[] | undefined {
  const match = THING.exec(param);
  if (!match) return undefined;
  const [named, list, ...numbers] = match;
  const [at, field, index, inner] = [Number(numbers[0]), numbers[1], numbers[2], numbers[3]];
  const { conversation, origins } = caller;
  const suffix = param.slice(named.length);
  if (list === 'tools') {
    const origin = origins.of(conversation.tools?.[at]);
    // A path below it may have any form (a schema's): only its beginning is another one.
    return origin === undefined ? undefined : [respelled(origin + param.slice(`tools[${at}]`.length), caller)];
  }
  const found = messageAt(conversation.turns, at);
  if (!found) return undefined;
  const { turn, result } = found;
  const part = field === undefined ? result : partAt(result?.content ?? turn.parts, field, Number(index));
  const whole = inner === undefined || part?.type !== 'tool_result' ? part : part.content[Number(inner)];
  const origin = origins.of(whole ?? turn);
  if (origin === undefined) return undefined;
  if (whole?.type === 'opaque' && whole.attached) return fieldsOf(whole.value, origin);
  return [respelled(origin + suffix, caller)];
}

/** Of the block that attached fields were taken from (conversation.ts). */
function fieldsOf({ type: _, ...fields }: JsonObject, origin: string): readonly Spellings[] {
  return Object.keys(fields).map((key): Spellings => [`${origin}.${key}`]);
}

interface Message {
  readonly turn: Turn;
  readonly result?: Extract<Part, { type: 'tool_result' }>;
}

function messageAt(turns: readonly Turn[], wanted: number): Message | undefined {
  let at = 0;
  for (const turn of turns) {
    const span = messagesOf(turn);
    if (wanted < at + span) {
      const part = turn.role === 'tool' ? turn.parts[wanted - at] : undefined;
      return part?.type === 'tool_result' ? { turn, result: part } : { turn };
    }
    at += span;
  }
  return undefined;
}

/** OpenAI's tool messages in a row are one turn of the conversation. */
export function messagesOf(turn: Turn): number {
  return turn.role === 'tool' ? Math.max(1, turn.parts.length) : 1;
}

function partAt(parts: readonly Part[], field: string, index: number): Part | undefined {
  return field === 'content' ? parts[index] : parts.filter(({ type }) => type === 'tool_call')[index];
}

function respelled(place: string, { client }: Caller): Spellings {
  const [first, ...others] = client.respell?.(place) ?? [];
  return first === undefined ? [place] : [first, ...others];
}

/** The spelling the body has; where it has none, what is lost was in the smallest field around it. */
function nearest(spellings: Spellings, { body }: Caller): string {
  const present = spellings.find((place) => isPlaceOf(body, place));
  if (present !== undefined) return present;
  let place = spellings[0];
  while (!isPlaceOf(body, place)) {
    const end = Math.max(place.lastIndexOf('.'), place.lastIndexOf('['));
    if (end <= 0) return place;
    place = place.slice(0, end);
  }
  return place;
}

/** `messages[2].content[0]` of a body. Names in schemas may hold dots and brackets themselves. */
export function isPlaceOf(value: unknown, place: string): boolean {
  if (place === '') return true;
  if (Array.isArray(value)) {
    const match = /^\[(\d+)\]\.?/.exec(place);
    const at = Number(match?.[1]);
    return match !== null && at < value.length && isPlaceOf(value[at], place.slice(match[0].length));
  }
  if (!isObject(value)) return false;
  return Object.keys(value).some((key) => {
    if (!place.startsWith(key)) return false;
    const after = place.slice(key.length);
    return /^(?:$|[.[])/.test(after) && isPlaceOf(value[key], after.replace(/^\./, ''));
  });
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
