import type { JsonObject } from '../conversation.ts';
import { shownText } from '../json/shown.ts';
import { compact, isObject } from '../json/object.ts';

/** Maximum number of keywords and properties that replace the references of one request. */
const MAX_COPIED = 10_000;

/** Maximum depth of nested definitions. Schemas are walked by recursion, and a body itself nests up to 64 levels. */
const MAX_LEVELS = 128;

/**
 * Maximum depth of nested branches, of all definitions that are being resolved. A definition may nest some thirty of
 * them, and some thousand exhaust the stack (measured: 7,000).
 */
const MAX_BRANCH_DEPTH = 512;

/**
 * The room left for resolved references in all schemas of a request. Without a limit, a few definitions that reference
 * each other twice would make millions of schemas, and a large definition with a thousand references gigabytes.
 */
export class MergeRoom {
  #left = MAX_COPIED;

  get isUsedUp(): boolean {
    return this.#left <= 0;
  }

  take(count: number): void {
    this.#left -= count;
  }
}

interface Merged {
  readonly schema: JsonObject;
  /** References whose targets were merged into the schema. */
  readonly refs: ReadonlySet<string>;
}

const NO_REFS: ReadonlySet<string> = new Set();

/**
 * Gemini has no `allOf`: its branches are merged into their parent. Properties and required lists are joined; for other
 * keywords the later branch wins (docs/protocols/requests.md#schema-all-of). A branch that is a local reference is
 * resolved. An `allOf` that only wraps one reference (how pydantic adds a description to one) stays a reference.
 */
export class AllOfMerger {
  readonly #root: JsonObject;
  readonly #dropped: Set<string>;
  readonly #room: MergeRoom;
  /** A reference of the schema being merged that cannot be resolved. */
  #kept: string | undefined;

  /** `dropped` collects the references that lead nowhere. */
  constructor(root: JsonObject, dropped: Set<string>, room: MergeRoom) {
    this.#root = root;
    this.#dropped = dropped;
    this.#room = room;
  }

  /**
   * `open`: references whose targets already enclose the schema, at this `level`. Resolving one of them again would not
   * end, so the schema becomes that reference, with its other keywords beside it.
   */
  merge(schema: JsonObject, open: ReadonlySet<string>, level: number): Merged {
    const branches = schema['allOf'];
    if (!Array.isArray(branches)) return { schema, refs: NO_REFS };
    this.#kept = undefined;
    const path: MergePath = { open, level, refs: new Set(), inside: new Set(), pieces: [], depth: 0 };
    const { $ref, rest, beside } = this.#open(schema);
    // Keywords beside a reference are lost and reported by name.
    path.pieces.push($ref === undefined ? rest : compact({ ...rest, $ref, allOf: beside }));
    this.#branches(schema, path);
    const { pieces, refs } = path;
    return this.#kept === undefined
      ? { schema: join(pieces), refs }
      : { schema: { ...schema, $ref: this.#kept }, refs };
  }

  /** A schema's keywords without `allOf`, and its reference: its own, or the one that its `allOf` only wraps. */
  #open(schema: JsonObject): OpenedSchema {
    const { allOf, $ref, ...rest } = schema;
    const only = wrapped(schema);
    if (!only) return { $ref, rest: Array.isArray(allOf) || allOf === undefined ? rest : { ...rest, allOf } };
    const { $ref: target, allOf: beside, ...others } = only;
    return { $ref: target, rest: { ...rest, ...others }, beside };
  }

  #branches(schema: JsonObject, path: MergePath): void {
    if (!wrapped(schema)) this.#collectAll(schema['allOf'], path);
  }

  #collectAll(branches: unknown, path: MergePath): void {
    if (!Array.isArray(branches)) return;
    path.depth += 1;
    for (const branch of branches) if (isObject(branch)) this.#collect(branch, path);
    path.depth -= 1;
  }

  /** Collects a branch as pieces, with its own `allOf` and reference resolved. Later pieces win. */
  #collect(branch: JsonObject, path: MergePath): void {
    const { $ref: ref, rest, beside } = this.#open(branch);
    if (typeof ref === 'string') this.#resolve(ref, path);
    path.pieces.push(rest);
    this.#collectAll(beside, path);
    this.#branches(branch, path);
  }

  /** A reference that leads back to itself adds nothing new. */
  #resolve(ref: string, path: MergePath): void {
    if (path.inside.has(ref)) return;
    const target = lookUp(ref, this.#root);
    if (!target) {
      this.#dropped.add(`allOf with ${shownText(ref)}`);
      return;
    }
    const isDeep = path.level + path.inside.size > MAX_LEVELS || path.depth > MAX_BRANCH_DEPTH;
    if (path.open.has(ref) || this.#room.isUsedUp || isDeep) {
      this.#kept = ref;
      return;
    }
    this.#room.take(weightOf(target));
    path.refs.add(ref);
    path.inside.add(ref);
    this.#collect(target, path);
    path.inside.delete(ref);
  }
}

interface OpenedSchema {
  readonly $ref: unknown;
  readonly rest: JsonObject;
  /** The `allOf` beside a wrapped reference. */
  readonly beside?: unknown;
}

interface MergePath {
  readonly open: ReadonlySet<string>;
  readonly level: number;
  readonly refs: Set<string>;
  /** References whose targets are being collected. */
  readonly inside: Set<string>;
  readonly pieces: JsonObject[];
  /** Number of lists of branches around the current one. */
  depth: number;
}

/** Returns the branch with the reference that an `allOf` only wraps. */
function wrapped({ allOf, ...rest }: JsonObject): JsonObject | undefined {
  const only: unknown = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined;
  return isObject(only) && typeof only['$ref'] === 'string' && !('properties' in rest) ? only : undefined;
}

function lookUp(ref: string, root: JsonObject): JsonObject | undefined {
  const path = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref);
  if (!path) return undefined;
  const definitions = root[path[1]!] ?? root['$defs'] ?? root['definitions'];
  const target = isObject(definitions) && Object.hasOwn(definitions, path[2]!) ? definitions[path[2]!] : undefined;
  return isObject(target) ? target : undefined;
}

/** Number of values walked again when a definition replaces its reference, up to the limit. No recursion. */
function weightOf(target: JsonObject): number {
  const open: unknown[] = [target];
  let weight = 0;
  while (open.length > 0 && weight <= MAX_COPIED) {
    const value = open.pop();
    weight += 1;
    if (typeof value !== 'object' || value === null) continue;
    for (const key in value) {
      open.push((value as JsonObject)[key]);
      if (open.length > MAX_COPIED) return MAX_COPIED + 1;
    }
  }
  return weight;
}

const MAPS = ['properties', '$defs', 'definitions'];

/** Joins all schemas at once: two by two, thousands of branches would copy the first ones each time. */
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

/** The values of a keyword that are joined. A value of another kind replaces those before it. */
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
