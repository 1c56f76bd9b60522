import { patternOf } from './groups.ts';
import { keyOf, type Leaves, type LeafPath } from './leaves.ts';

export interface ReadLeaves {
  /** Leaves of what is read. */
  readonly input: Leaves;
  /** False: a field that nothing has been found for is told by the item that its neighbours come from. */
  readonly complete: boolean;
}

interface Field {
  readonly key: string;
  readonly path: LeafPath;
  /** Sources of what stands nearest. */
  readonly around: readonly LeafPath[];
  /** Of a list, such as a message: what the nearest is made of. */
  readonly item: LeafPath | undefined;
}

type Kinds = ReadonlyMap<string, readonly LeafPath[]>;

/** More sources than these for one field are told as what they stand in. */
const MAX_SOURCES = 6;

/** Which fields of what is written depend on which of what is read. */
export class Findings {
  readonly #fields: Leaves;
  /** The value of a source has come out. */
  readonly #flows = new Map<string, Map<string, LeafPath>>();
  /** Another value has come out. */
  readonly #direct = new Map<string, Map<string, LeafPath>>();
  /** It was there, or stood elsewhere, because of them. */
  readonly #loose = new Map<string, Map<string, LeafPath>>();
  /** How many fields changed with a loose source of this one, at least. */
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
   * Something whole was taken away, and these fields went or changed with it. Of those that nothing sure is known of it is the source, unless
   * what is known has changed as few: tools take much with them, the choice among them only what it says.
   */
  whole(keys: readonly string[], source: LeafPath): void {
    for (const key of keys) {
      if (this.#sure(key) || keys.length >= (this.#narrowest.get(key) ?? Infinity)) continue;
      this.#loose.delete(key);
      add(this.#loose, key, source);
      this.#narrowest.set(key, keys.length);
    }
  }

  /** Nothing whole could say any more of any field. */
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

  /** By the place of fields in items: where in the item that its neighbours come from the sources of such a field stand. */
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

  /** A text that is known to be another one's, and has changed with something else too, was only left out. */
  #sure(key: string): ReadonlyMap<string, LeafPath> | undefined {
    return this.#flows.get(key) ?? this.#direct.get(key);
  }

  /** By the place of whatever holds a field: the direct sources of all that it holds. */
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

/** Sources of what stands nearest to a field, in the smallest thing around it that has any; the whole body is near to nothing. */
function neighbours(path: LeafPath, near: ReadonlyMap<string, readonly LeafPath[]>): readonly LeafPath[] {
  for (let depth = path.length - 1; depth > 1; depth -= 1) {
    const found = near.get(keyOf(path.slice(0, depth)));
    if (found) return found;
  }
  return [];
}

/** A change in one message moves those behind it: what a field depends on is what its neighbours are made of. */
function nearest(path: LeafPath, sources: readonly LeafPath[], around: readonly LeafPath[]): readonly LeafPath[] {
  if (around.length === 0) return ofItsKind(path, sources);
  const scored = sources.map((source) => ({ source, score: Math.max(...around.map((near) => shared(source, near))) }));
  const best = Math.max(...scored.map(({ score }) => score));
  return scored.filter(({ score }) => score === best).map(({ source }) => source);
}

/** What is said once of a whole request hangs on what is said once, and less on what its messages are. */
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

/** An answer to a call says whose it is: the call's own message stands before. */
function lastItem(around: readonly LeafPath[]): LeafPath | undefined {
  const items = around.map(itemOf).filter((item) => item !== undefined);
  return items.toSorted((one, other) => Number(one.at(-1)) - Number(other.at(-1))).at(-1);
}

/** `messages.3.content.0.text` → `messages.3` */
function itemOf(path: LeafPath): LeafPath | undefined {
  const index = path.findIndex(isIndex);
  return index < 0 ? undefined : path.slice(0, index + 1);
}

/** In another item of the same list: what was changed there has moved this one. */
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
