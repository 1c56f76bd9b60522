import { isDeepStrictEqual } from 'node:util';
import { applyEdit, type Edit } from './edits.ts';
import type { RequestBody } from './request-body.ts';

/** An edit without which the body would be another. */
export interface Change {
  readonly edit: Edit;
  /** What the client had said there; undefined where it had said nothing. */
  readonly was: unknown;
}

/**
 * The edits of a body that make it another than the client's: not those that say what was said, and not those that a later one
 * has made void. For people: it parses the body once more.
 */
export function changesOf(body: RequestBody): readonly Change[] {
  if (body.edits.length === 0) return [];
  // The scan has made sure that this is an object.
  const said = JSON.parse(body.original.toString('utf8')) as Record<string, unknown>;
  const made = body.json();
  let needed = body.edits;
  for (const edit of body.edits) {
    const others = needed.filter((one) => one !== edit);
    if (isDeepStrictEqual(others.reduce(applyEdit, said), made)) needed = others;
  }
  return needed.map((edit) => ({ edit, was: valueAt(said, edit.path) }));
}

function valueAt(json: unknown, path: readonly string[]): unknown {
  let value = json;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
