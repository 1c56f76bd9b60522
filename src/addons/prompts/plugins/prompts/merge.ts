import {
  isObject,
  spellingsOf,
  type KeyPath,
  type Operation,
  type RequestBody,
} from '../../../../core/kernel/index.ts';
import type { Edit } from '../../../../plugin/index.ts';

/** Fields of the request that name and fill the prompt, and are no fields of a chat request. */
const OF_THE_PROMPT = ['variables', 'promptID', 'prompt_id'];

/** A field of the request, under any of its names, replaces the prompt's. A null counts as omitted. */
export function mergePrompt(
  body: RequestBody,
  fields: Readonly<Record<string, unknown>>,
  { source, operation }: { readonly source: string; readonly operation: Operation },
): RequestBody {
  const spellings = spellingsOf(operation.fields);
  const isTaken = (key: string): boolean => [[key], ...spellings.synonymsOf([key])].some((path) => isSet(body, path));
  const removed = OF_THE_PROMPT.filter((key) => body.has(key)).map((key): Edit => ({
    path: [key],
    value: undefined,
    source,
  }));
  const added = Object.entries(fields).flatMap(([key, value]): Edit[] =>
    isTaken(key) ? [] : [{ path: [key], value, source }],
  );
  return body.edit([...removed, ...added]);
}

function isSet(body: RequestBody, [first = '', ...rest]: KeyPath): boolean {
  if (!body.has(first)) return false;
  const value = rest.reduce<unknown>(
    (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    body.value(first),
  );
  return value !== undefined && value !== null;
}
