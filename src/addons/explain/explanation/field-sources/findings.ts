import { keyOf, type Leaves, type LeafPath, patternOf } from './leaves.ts';

interface ReadLeaves {
  /** Leaves of the input. */
  readonly input: Leaves;
  /** False: a field without findings is attributed to the item that its neighbours come from. */
  readonly complete: boolean;
}

interface Field {
  readonly key: string;
  readonly path: LeafPath;
  /** Sources of the nearest fields. */
  readonly around: readonly LeafPath[];
  /** The list item, such as a message, that the nearest fields come from. */
  readonly item: LeafPath | undefined;
}

type Kinds = ReadonlyMap<string, readonly LeafPath[]>;

/** Maximum sources of one field; more are replaced by their enclosing objects. */
const MAX_SOURCES = 6;

/** The dependences of output fields on input leaves. */
export class Findings {
  readonly #fields: Leaves;
  /** The source's value appears in the field. */
  readonly #flows = new Map<string, Map<string, LeafPath>>();
  /** The field's value changes with the source, but does not contain it. */
  readonly #direct = new Map<string, Map<string, LeafPath>>();
  /** The field exists, or its position changes, because of the source. */
  readonly #loose = new Map<string, Map<string, LeafPath>>();
  /** The smallest number of fields that changed together with this one for a loose source. */
  readonly #narrowest = new Map<string, number>();

  constructor(fields: Leaves) {
    this.#fields = fields;
  }

  flows(key: string, source: LeafPath): void {
    add(this.#flows, key, source);
  }

  direct(key: string, source: LeafPath): void {
    add(this.#direct, key, source);
  }

  loose(keys: readonly string[], source: LeafPath): void {
    for (const key of keys) {
      add(this.#loose, key, source);
      this.#narrowest.set(key, Math.min(this.#narrowest.get(key) ?? Infinity, keys.length));
    }
  }

  /**
   * Records that removing a whole object or list removed or changed these fields. It becomes the source of a field
   * without certain sources, unless a known loose source changed as few fields: removing the tools changes much,
   * removing the tool choice only its own fields.
   */
  whole(keys: readonly string[], source: LeafPath): void {
    for (const key of keys) {
      if (this.#sure(key) || keys.length >= (this.#narrowest.get(key) ?? Infinity)) continue;
      this.#loose.delete(key);
      add(this.#loose, key, source);
      this.#narrowest.set(key, keys.length);
    }
  }

  /** Whether removing whole objects could no longer improve any finding. */
  allSettled(): boolean {
    return this.#fields.keys().every((key) => this.#sure(key) !== undefined || this.#narrowest.get(key) === 1);
  }

  /** The sources of each field, in the order of the fields. */
  sources(known: ReadLeaves): readonly { readonly path: LeafPath; readonly from: readonly LeafPath[] }[] {
    const near = this.#directByPlace();
    const fields = [...this.#fields].map(([key, { path }]): Field => {
      const around = neighbours(path, near);
      return { key, path, around, item: lastItem(around) };
    });
    const kinds = this.#kinds(fields);
    return fields.map((field) => ({ path: field.path, from: this.#sourcesOf(field, known, kinds) }));
  }

  #sourcesOf({ key, path, around, item }: Field, { input, complete }: ReadLeaves, kinds: Kinds): readonly LeafPath[] {
    const sure = this.#sure(key);
    if (sure) return few([...sure.values()]);
    const loose = [...(this.#loose.get(key)?.values() ?? [])];
    const own = item ? loose.filter((source) => !isBeside(source, item)) : loose;
    if (own.length > 0) return few(nearest(path, own, around));
    if (!item) return [];
    const ofKind = (kinds.get(patternOf({ path })) ?? [])
      .map((rest) => [...item, ...rest])
      .filter((source) => input.has(keyOf(source)));
    if (ofKind.length > 0) return few(ofKind);
    return loose.length > 0 || !complete ? [item] : [];
  }

  /**
   * Per pattern of fields in items: the places, within the item that its neighbours come from, of the sources of such a
   * field.
   */
  #kinds(fields: readonly Field[]): Kinds {
    const kinds = new Map<string, LeafPath[]>();
    for (const { key, path, item } of fields) {
      if (!item || this.#sure(key)) continue;
      for (const source of this.#loose.get(key)?.values() ?? []) {
        if (shared(source, item) < item.length || source.length === item.length) continue;
        const pattern = patternOf({ path });
        const known = kinds.get(pattern) ?? [];
        const rest = source.slice(item.length);
        if (known.every((other) => keyOf(other) !== keyOf(rest))) known.push(rest);
        kinds.set(pattern, known);
      }
    }
    return kinds;
  }

  /**
   * Certain sources of a field. A field whose value flows from one source, and that changed with another one too, was
   * only omitted then.
   */
  #sure(key: string): ReadonlyMap<string, LeafPath> | undefined {
    return this.#flows.get(key) ?? this.#direct.get(key);
  }

  /** Per enclosing object or list: the certain sources of all its fields. */
  #directByPlace(): ReadonlyMap<string, readonly LeafPath[]> {
    const places = new Map<string, LeafPath[]>();
    for (const [key, { path }] of this.#fields) {
      const sources = this.#sure(key);
      if (!sources) continue;
      for (let depth = 1; depth < path.length; depth += 1) {
        const place = keyOf(path.slice(0, depth));
        const known = places.get(place) ?? [];
        if (known.length < MAX_NEAR) known.push(...sources.values());
        places.set(place, known);
      }
    }
    return places;
  }
}

const MAX_NEAR = 32;

function add(found: Map<string, Map<string, LeafPath>>, key: string, source: LeafPath): void {
  let sources = found.get(key);
  if (!sources) found.set(key, (sources = new Map()));
  sources.set(keyOf(source), source);
}

/** Sources of the fields nearest to a field: in its smallest enclosing value that has any, except the whole body. */
function neighbours(path: LeafPath, near: ReadonlyMap<string, readonly LeafPath[]>): readonly LeafPath[] {
  for (let depth = path.length - 1; depth > 1; depth -= 1) {
    const found = near.get(keyOf(path.slice(0, depth)));
    if (found) return found;
  }
  return [];
}

/**
 * Selects the sources nearest to those of the field's neighbours, because a change in one message also moves the later
 * messages.
 */
function nearest(path: LeafPath, sources: readonly LeafPath[], around: readonly LeafPath[]): readonly LeafPath[] {
  if (around.length === 0) return ofItsKind(path, sources);
  const scored = sources.map((source) => ({ source, score: Math.max(...around.map((near) => shared(source, near))) }));
  const best = Math.max(...scored.map(({ score }) => score));
  return scored.filter(({ score }) => score === best).map(({ source }) => source);
}

/** A field that occurs once per request depends rather on inputs that occur once than on messages. */
function ofItsKind(path: LeafPath, sources: readonly LeafPath[]): readonly LeafPath[] {
  if (path.some(isIndex)) return sources;
  const once = sources.filter((source) => !source.some(isIndex));
  return once.length > 0 ? once : sources;
}

const isIndex = (name: string | number): boolean => typeof name === 'number';

function shared(one: LeafPath, other: LeafPath): number {
  const differs = one.findIndex((name, index) => name !== other[index]);
  return differs < 0 ? one.length : differs;
}

/** The last item: a tool result refers to its call, whose message comes earlier. */
function lastItem(around: readonly LeafPath[]): LeafPath | undefined {
  const items = around.map(itemOf).filter((item) => item !== undefined);
  return items.toSorted((one, other) => Number(one.at(-1)) - Number(other.at(-1))).at(-1);
}

/** `messages.3.content.0.text` → `messages.3` */
function itemOf(path: LeafPath): LeafPath | undefined {
  const index = path.findIndex(isIndex);
  return index < 0 ? undefined : path.slice(0, index + 1);
}

/** Whether the source is in another item of the same list, whose change only moved this field. */
const isBeside = (source: LeafPath, item: LeafPath): boolean =>
  source.length > item.length - 1 && shared(source, item) === item.length - 1;

function few(sources: readonly LeafPath[]): readonly LeafPath[] {
  let short = sources;
  while (short.length > MAX_SOURCES && short.some((path) => path.length > 1)) {
    const depth = Math.max(...short.map((path) => path.length)) - 1;
    const cut = short.map((path) => path.slice(0, Math.max(depth, 1)));
    short = [...new Map(cut.map((path) => [keyOf(path), path])).values()];
  }
  return short.slice(0, MAX_SOURCES);
}
