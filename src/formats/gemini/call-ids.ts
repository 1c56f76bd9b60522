import type { RequestTarget, SearchableBody } from '../format.ts';
import { isObject } from '../json/object.ts';
import { asList, bothSpellings, pick } from './wire.ts';

/** True for a body that may hold ids which its target does not take (docs/protocols/gemini.md#call-ids). */
export const mayHoldIds = (body: SearchableBody, { host }: Pick<RequestTarget, 'host'>): boolean =>
  host === 'vertex' && body.contains('"id"') && (body.contains('"functionCall"') || body.contains('"function_call"'));

/**
 * Contents without the ids of calls. Vertex AI pairs calls and responses by name and order: responses whose ids name their calls
 * move to the order of the calls. Contents without ids stay the same objects.
 */
export function withoutCallIds(contents: readonly unknown[]): readonly unknown[] {
  return contents.map((content, at) => {
    if (!isObject(content)) return content;
    const parts = asList(content['parts']);
    if (!parts.some((part) => idOf(part) !== undefined)) return content;
    const before = contents[at - 1];
    const called = isObject(before) ? asList(before['parts']).map((part) => idOf(part)) : [];
    return { ...content, parts: inOrder(parts, called).map(withoutId) };
  });
}

const FIELDS = ['functionCall', 'functionResponse'] as const;

function idOf(part: unknown): unknown {
  if (!isObject(part)) return undefined;
  for (const field of FIELDS) {
    const value = pick(part, field);
    if (isObject(value)) return value['id'];
  }
  return undefined;
}

/** The parts, those that answer `called` in its order and in the places of such parts. */
function inOrder(parts: readonly unknown[], called: readonly unknown[]): readonly unknown[] {
  const place = new Map(called.map((id, index) => [id, index]));
  place.delete(undefined);
  const answers = (part: unknown): boolean => place.has(idOf(part));
  const sorted = parts.filter(answers).sort((a, b) => (place.get(idOf(a)) ?? 0) - (place.get(idOf(b)) ?? 0));
  let next = 0;
  return parts.map((part) => (answers(part) ? sorted[next++] : part));
}

const NAMES = bothSpellings(...FIELDS);

function withoutId(part: unknown): unknown {
  if (!isObject(part) || idOf(part) === undefined) return part;
  const entries = Object.entries(part).map(([name, value]) => {
    if (!isObject(value) || !NAMES.has(name)) return [name, value];
    const { id: _, ...rest } = value;
    return [name, rest];
  });
  return Object.fromEntries(entries);
}
