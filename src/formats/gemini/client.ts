import type { BodyView, ClientOptions, ClientSettings } from '../format.ts';
import { objectOf } from '../json/object.ts';
import { toSnake } from '../json/field-names.ts';
import { pick } from './wire.ts';

/**
 * The compliance header concerns OpenAI's fields, which a reply of this API does not have. Whether thoughts are
 * requested and shown is a field of the body here (docs/protocols/gemini.md#thinking-config). Ids have no prefix in this API. Every
 * chunk has usage, requested or not.
 */
export function readClient(body: BodyView, { id }: ClientSettings): ClientOptions {
  const strict = !asksForThoughts(body);
  return { id, strict, hideThoughts: strict, includeUsage: true };
}

function asksForThoughts(body: BodyView): boolean {
  const config = fieldOf(body, 'generationConfig');
  const thinking = config && objectOf(pick(config, 'thinkingConfig'));
  return thinking !== undefined && pick(thinking, 'includeThoughts') === true;
}

/** An object at the top level, in either spelling. */
function fieldOf(body: BodyView, name: string): Readonly<Record<string, unknown>> | undefined {
  const key = [name, toSnake(name)].find((spelling) => body.has(spelling));
  return key === undefined ? undefined : objectOf(body.value(key));
}
