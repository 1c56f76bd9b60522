import type { JsonObject } from '../conversation.ts';
import { isObject } from './wire.ts';

/** Most references that are put in place of themselves in one schema: a few that name each other twice would make millions. */
const MAX_EXPANDED = 1000;

interface Merged {
  readonly schema: JsonObject;
  /** References whose targets are part of it now. */
  readonly refs: ReadonlySet<string>;
}

/**
 * `allOf` has no place on Gemini's wire: its branches are merged into their parent, properties and required lists together,
 * later branches winning elsewhere (wire.md D6). A branch that is a local reference is looked up; an `allOf` that only
 * wraps one reference (how pydantic adds a description to one) stays a reference.
 */
export class AllOfMerger {
  readonly #root: JsonObject;
  readonly #dropped: Set<string>;
  #expanded = 0;
  /** Met in the schema being merged: a reference that cannot be put in place. */
  #kept: string | undefined;

  /** `dropped`: where a reference is noted that leads nowhere. */
  constructor(root: JsonObject, dropped: Set<string>) {
    this.#root = root;
    this.#dropped = dropped;
  }

  /**
   * `open`: references whose targets the schema stands inside already. One of them again would have no end, so the schema is
   * that reference, beside what it cannot hold.
   */
  merge(schema: JsonObject, open: ReadonlySet<string>): Merged {
    const branches = schema['allOf'];
    if (!Array.isArray(branches)) return { schema, refs: new Set() };
    this.#kept = undefined;
    const refs = new Set<string>();
    const merged = this.#join(schema, { open, refs, seen: new Set() });
    return this.#kept === undefined ? { schema: merged, refs } : { schema: { ...schema, $ref: this.#kept }, refs };
  }

  #join(schema: JsonObject, path: Path): JsonObject {
    const { allOf, ...rest } = schema;
    if (!Array.isArray(allOf)) return schema;
    const only: unknown = allOf.length === 1 ? allOf[0] : undefined;
    if (isObject(only) && typeof only['$ref'] === 'string' && !('properties' in rest)) return { ...rest, ...only };
    let merged: JsonObject = rest;
    for (const branch of allOf) if (isObject(branch)) merged = join(merged, this.#expand(branch, path));
    return merged;
  }

  /** A branch with its own `allOf` and reference resolved. A reference that leads back to itself adds nothing new. */
  #expand(branch: JsonObject, path: Path): JsonObject {
    const { $ref: ref, ...own } = this.#join(branch, path);
    if (typeof ref !== 'string' || path.seen.has(ref)) return own;
    const target = lookUp(ref, this.#root);
    if (!target) {
      this.#dropped.add(`allOf with ${ref}`);
      return own;
    }
    if (path.open.has(ref) || this.#expanded >= MAX_EXPANDED) {
      this.#kept = ref;
      return own;
    }
    this.#expanded += 1;
    path.refs.add(ref);
    return join(this.#expand(target, { ...path, seen: new Set([...path.seen, ref]) }), own);
  }
}

interface Path {
  readonly open: ReadonlySet<string>;
  readonly refs: Set<string>;
  readonly seen: ReadonlySet<string>;
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
