import type { JsonObject, ToolCallPart } from '../conversation.ts';
import { RequestFault } from '../format.ts';
import { MAX_DEPTH, nestsTooDeep } from '../json/depth.ts';
import { isObject } from '../json/object.ts';
import { losesDigits } from '../json/rounding.ts';
import { shownText } from '../json/shown.ts';
import { JsonText } from '../json/text.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';

/** Gemini needs an object; `''` means no arguments (docs/protocols/requests.md#arguments). */
export function parseArguments(part: ToolCallPart, place: BodyPlace, losses: LossReport): JsonObject | JsonText {
  const param = BodyPlace.field(place, 'function.arguments');
  const value = JsonText.of(part.arguments) ?? parsedArguments(part, param, losses);
  if (isObject(value) && !(value instanceof JsonText && !value.isObject)) return value;
  losses.downgraded(param, 'Gemini takes only objects as arguments: sent as {"value": …}');
  return { value };
}

function parsedArguments(part: ToolCallPart, param: BodyPlace, losses: LossReport): unknown {
  if (part.arguments.trim() === '') return {};
  if (nestsTooDeep(part.arguments)) throw unreadable(part, param, `nest deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(part.arguments);
  } catch {
    throw unreadable(part, param, 'are not valid JSON');
  }
  if (losesDigits(part.arguments, value)) {
    losses.clamped(param, 'numbers of the wire are doubles: whole numbers beyond 2^53 are rounded');
  }
  return value;
}

function unreadable({ name }: ToolCallPart, param: BodyPlace, why: string): RequestFault {
  const message = `${String(param)}: the arguments of the call "${shownText(name)}" ${why}.`;
  return new RequestFault('invalid_value', message, param);
}
