import type { JsonObject } from '../conversation.ts';
import type { BodyEdit, BodyView } from '../body-view.ts';
import type { RequestTarget } from '../request-target.ts';
import { objectOf } from '../json/object.ts';
import { bothSpellings } from './wire.ts';

/** The field of a count that may hold a whole request. */
export const NESTED = bothSpellings('generateContentRequest');
const CONTENTS = bothSpellings('contents');
/** Fields of a generation that are counted, besides `contents`. */
const COUNTED = bothSpellings('systemInstruction', 'tools', 'generationConfig', 'cachedContent');

type CountTarget = Pick<RequestTarget, 'host' | 'model'>;

/** The request of a body that the Developer API's count holds whole (docs/protocols/gemini.md#count-tokens). */
export function nestedRequest(body: JsonObject): JsonObject | undefined {
  for (const name of NESTED) {
    const request = objectOf(body[name]);
    if (request) return request;
  }
  return undefined;
}

/** A count in its host's form: Vertex AI takes a request's fields, the Developer API `contents` or a whole request. */
export function countRequest(request: JsonObject, { host, model }: CountTarget): JsonObject {
  const isPlain = Object.keys(request).every((name) => CONTENTS.has(name));
  return host === 'vertex' || isPlain ? request : { generateContentRequest: { model: `models/${model}`, ...request } };
}

/** The same for a body that is passed through. */
export function countEdits(body: BodyView, { host, model }: CountTarget): readonly BodyEdit[] {
  const edit = (path: readonly string[], value: unknown): BodyEdit => ({ path, value, source: 'gateway' });
  const name = [...NESTED].find((one) => body.has(one));
  const nested = name === undefined ? undefined : objectOf(body.value(name));
  if (host === 'direct' && name !== undefined && nested) return [edit([name, 'model'], `models/${model}`)];
  if (host === 'vertex' && name !== undefined) {
    const { model: _, ...fields } = nested ?? {};
    return [edit([name], undefined), ...Object.entries(fields).map(([key, value]) => edit([key], value))];
  }
  const counted = [...COUNTED].filter((one) => body.has(one));
  if (host === 'vertex' || counted.length === 0) return [];
  const own = [...CONTENTS, ...counted].filter((one) => body.has(one));
  const request = Object.fromEntries(own.map((key) => [key, body.value(key)]));
  return [
    ...own.map((key) => edit([key], undefined)),
    edit(['generateContentRequest'], { model: `models/${model}`, ...request }),
  ];
}
