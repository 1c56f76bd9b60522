import { isDeepStrictEqual } from 'node:util';
import { applyEdit, valueAt } from '../formats/json/edits.ts';
import type { Edit, RequestBody } from './request.ts';

/** An edit that changes the body: without it, the resulting JSON would differ. */
export interface Change {
  readonly edit: Edit;
  /** The client's value at the path; undefined when the client sent none. */
  readonly was: unknown;
}

/**
 * The edits that make a body differ from the client's. Leaves out edits that write the client's own value and edits
 * that a later one overrides. Parses the body once more: meant for explanations, not for the request path.
 */
export function changesOf(body: RequestBody): readonly Change[] {
  if (body.edits.length === 0) return [];
  // A request body is an object.
  const original = JSON.parse(body.original.toString('utf8')) as Record<string, unknown>;
  const result = body.json();
  let needed = body.edits;
  for (const edit of body.edits) {
    const others = needed.filter((one) => one !== edit);
    if (isDeepStrictEqual(others.reduce(applyEdit, original), result)) needed = others;
  }
  return needed.map((edit) => ({ edit, was: valueAt(original, edit.path) }));
}
