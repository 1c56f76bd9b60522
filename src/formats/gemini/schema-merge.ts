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
    return join([rest, ...allOf.filter(isObject).map((branch) => this.#expand(branch, path))]);
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
    return join([this.#expand(target, { ...path, seen: new Set([...path.seen, ref]) }), own]);
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

const MAPS = ['properties', '$defs', 'definitions'];

/** All at once: an `allOf` may have thousands of branches, and joining them two by two would copy the first ones each time. */
function join(schemas: readonly JsonObject[]): JsonObject {
  // Entries, not assignment: a property named `__proto__` stays one.
  const joined: JsonObject = Object.fromEntries(schemas.flatMap((schema) => Object.entries(schema)));
  for (const keyword of MAPS) {
    const maps = lastRun(schemas, keyword, isObject);
    if (maps.length > 1) joined[keyword] = Object.fromEntries(maps.flatMap((map) => Object.entries(map)));
  }
  const lists = lastRun(schemas, 'required', Array.isArray);
  if (lists.length > 1) joined['required'] = [...new Set(lists.flat())];
  return joined;
}

/** Values of a keyword that join. One of another kind replaces those before it, as any other keyword's would. */
function lastRun<T>(schemas: readonly JsonObject[], keyword: string, joins: (value: unknown) => value is T): T[] {
  let run: T[] = [];
  for (const schema of schemas) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const value = schema[keyword];
    if (joins(value)) run.push(value);
    else run = [];
  }
  return run;
}
