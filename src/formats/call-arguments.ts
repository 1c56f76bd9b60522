import type { JsonObject, ToolCallPart } from './conversation.ts';
import { nestsTooDeep } from './json/scan.ts';
import { isObject, parseJson } from './json/object.ts';
import { losesDigits } from './json/rounding.ts';
import { JsonText } from './json/text.ts';
import type { LossReport } from './losses/losses.ts';
import { BodyPlace } from './losses/place.ts';

/** The texts of an API's losses of arguments. */
export interface ArgumentTexts {
  /** The arguments are no object. */
  readonly wrapped: string;
  readonly rounded: string;
}

type CallWithArguments = Pick<ToolCallPart, 'arguments' | 'custom'>;

/**
 * Arguments for an API that takes only objects; `''` means no arguments (docs/protocols/requests.md#arguments). Arguments that are no
 * JSON go under `value`, as in an answer: a model wrote them, and a refusal would end the conversation.
 */
export function encodeArguments(
  call: CallWithArguments,
  place: BodyPlace,
  losses: LossReport,
  texts: ArgumentTexts,
): JsonObject | JsonText {
  if (call.custom) return { input: call.arguments };
  const param = BodyPlace.field(place, 'function.arguments');
  const value = JsonText.of(call.arguments) ?? parsedArguments(call, param, losses, texts);
  if (isObject(value) && !(value instanceof JsonText && !value.isObject)) return value;
  losses.downgraded(param, texts.wrapped);
  return { value };
}

function parsedArguments(
  { arguments: text }: CallWithArguments,
  param: BodyPlace,
  losses: LossReport,
  texts: ArgumentTexts,
): unknown {
  if (text.trim() === '') return {};
  const value = nestsTooDeep(text) ? undefined : parseJson(text);
  if (value === undefined) return text;
  if (losesDigits(text, value)) losses.clamped(param, texts.rounded);
  return value;
}

/**
 * Arguments of an answer, for a client whose API takes only objects. Arguments that the answer's limit cut short, that
 * nest too deep or that are not an object go under `value`.
 */
export function answeredArguments(text: string): JsonObject {
  const value = nestsTooDeep(text) ? undefined : parseJson(text);
  return isObject(value) ? value : { value: value === undefined ? text : value };
}

/** JSON of the object that is sent in place of arguments that are no object. Undefined for an object and for an empty text. */
export function wrappedArguments(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  const value = nestsTooDeep(text) ? undefined : parseJson(text);
  return isObject(value) ? undefined : JSON.stringify({ value: value === undefined ? text : value });
}
