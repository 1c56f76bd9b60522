import { isObject } from '../../formats/json/object.ts';
import { parseReplyText } from '../../formats/json/rounding.ts';
import { replaceAt } from '../../formats/media/remote-media.ts';
import type { RequestBody } from '../kernel/index.ts';

interface MediaEdits {
  /** Client and target have the same format, so no decoder reads the numbers of the body: they are written again unchanged. */
  readonly native: boolean;
  /** Of the edits. */
  readonly source: string;
}

/** The body with values in place of media. Only keys that hold media are written again. All others keep the caller's bytes. */
export function withMedia(
  body: RequestBody,
  values: Iterable<readonly [path: readonly [string, ...(string | number)[]], value: unknown]>,
  { native, source }: MediaEdits,
): RequestBody {
  const written = native ? parseExact(body) : body.json();
  const edited = new Map<string, unknown>();
  for (const [[key, ...path], value] of values)
    edited.set(key, replaceAt(edited.get(key) ?? written[key], path, value));
  return body.edit([...edited].map(([key, value]) => ({ path: [key], value, source })));
}

/** Parses without rounding: a number beyond 2 ** 53 in a call's arguments must be written again unchanged. */
function parseExact(body: RequestBody): Readonly<Record<string, unknown>> {
  const json = parseReplyText(body.encode().toString('utf8'));
  return isObject(json) ? json : {};
}
