import type { JsonObject } from '../conversation.ts';
import { isObject } from './wire.ts';

/**
 * `allOf` has no place on Gemini's wire: its branches are merged into their parent, properties and required lists together,
 * later branches winning elsewhere (wire.md D6). A branch that is a local reference is looked up; an `allOf` that only
 * wraps one reference (how pydantic adds a description to one) stays a reference.
 */
export function mergeAllOf(schema: JsonObject, root: JsonObject, seen: ReadonlySet<string> = new Set()): JsonObject {
  const branches = schema['allOf'];
  if (!Array.isArray(branches)) return schema;
  const { allOf: _, ...rest } = schema;
  const only = branches.length === 1 ? branches[0] : undefined;
  if (isObject(only) && typeof only['$ref'] === 'string' && !('properties' in rest)) return { ...rest, ...only };
  let merged: JsonObject = rest;
  for (const branch of branches) {
    if (isObject(branch)) merged = join(merged, expand(branch, root, seen));
  }
  return merged;
}

/** A branch with its own `allOf` and reference resolved. A reference that leads back to itself adds nothing new. */
function expand(branch: JsonObject, root: JsonObject, seen: ReadonlySet<string>): JsonObject {
  const { $ref: ref, ...own } = mergeAllOf(branch, root, seen);
  if (typeof ref !== 'string' || seen.has(ref)) return own;
  const target = lookUp(ref, root);
  return target ? join(expand(target, root, new Set([...seen, ref])), own) : own;
}

function lookUp(ref: string, root: JsonObject): JsonObject | undefined {
  const path = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref);
  if (!path) return undefined;
  const definitions = root[path[1]!] ?? root['$defs'] ?? root['definitions'];
  const target = isObject(definitions) ? definitions[path[2]!] : undefined;
  return isObject(target) ? target : undefined;
}

function join(base: JsonObject, branch: JsonObject): JsonObject {
  const joined = { ...base, ...branch };
  for (const keyword of ['properties', '$defs', 'definitions']) {
    const [mine, theirs] = [base[keyword], branch[keyword]];
    if (isObject(mine) && isObject(theirs)) joined[keyword] = { ...mine, ...theirs };
  }
  if (Array.isArray(base['required']) && Array.isArray(branch['required'])) {
    joined['required'] = [...new Set([...base['required'], ...branch['required']])];
  }
  return joined;
}
