import { Findings } from './findings.ts';
import { groupsOf, halves, isEnumeration, patternOf, type LeafGroup } from './groups.ts';
import { leavesOf, REMOVED, type Leaf, type LeafValue, type LeafPath } from './leaves.ts';
import { alternativesTo, markedAll, marksIn, saysItsKind } from './marks.ts';
import { Probes, type ProbeResult, type Writing } from './probes.ts';
import { toTheEnd, type SlicedWork } from './steps.ts';
import { isObject } from '../../../formats/json/object.ts';

export interface FieldSources {
  /** Of every leaf of what is written, in its order. `from` is empty where no part of the input has a say. */
  readonly fields: readonly { readonly path: LeafPath; readonly from: readonly LeafPath[] }[];
  /** Times it was written anew. */
  readonly probes: number;
  /** False: there was more to ask than might be; what is left is told by the message, or the item, that it is in. */
  readonly complete: boolean;
}

export const MAX_PROBES = 600;

/**
 * Where each field of what is written comes from, found by dependence: something is changed in what is read, and what changes in
 * what is written depends on it. So nothing has to be said twice, here and in the code that writes. Strings and numbers that may say
 * anything are marked many at a time; what a writer would refuse is changed alone, to another word of its kind.
 */
export function fieldSources(writing: Writing, maxProbes: number = MAX_PROBES): FieldSources {
  return toTheEnd(fieldSourcesInSteps(writing, maxProbes));
}

/** The same with a pause before each time that it is written anew, for whoever has something else to do in between. */
export function* fieldSourcesInSteps(writing: Writing, maxProbes: number = MAX_PROBES): SlicedWork<FieldSources> {
  let probes: Probes;
  try {
    probes = new Probes(writing, maxProbes);
  } catch {
    return { fields: [], probes: 0, complete: false };
  }
  return yield* new Search(writing.input, probes).run(maxProbes);
}

class Search {
  readonly #input: unknown;
  readonly #probes: Probes;
  readonly #findings: Findings;
  /** To be changed alone. */
  #alone: Leaf[] = [];
  /** Ids that stand in several places. */
  #ids: ReadonlyMap<LeafValue, readonly Leaf[]> = new Map();
  /** What came of changing leaves of the same place and value. */
  readonly #experience = new Map<string, Experience>();

  constructor(input: unknown, probes: Probes) {
    this.#input = input;
    this.#probes = probes;
    this.#findings = new Findings(probes.before);
  }

  *run(maxProbes: number): SlicedWork<FieldSources> {
    const leaves = [...leavesOf(this.#input).values()].filter(({ path }) => path.length > 0);
    const places = [...Map.groupBy(leaves, ({ value }) => value)];
    this.#ids = new Map(places.filter(([value, { length }]) => length > 1 && isId(value)));
    for (const group of groupsOf(leaves)) yield* this.#mark(group);
    yield* this.#markTogether();
    yield* this.#markSame();
    const asked = [...this.#alone, ...leaves.filter((leaf) => saysItsKind(leaf))];
    for (const leaf of asked) yield* this.#change(leaf);
    yield* this.#removeWholes();
    const complete = this.#probes.left > 0;
    return {
      fields: this.#findings.sources({ input: leavesOf(this.#input), complete }),
      probes: maxProbes - this.#probes.left,
      complete,
    };
  }

  *#mark(group: LeafGroup): SlicedWork<void> {
    const { leaves } = group;
    const marks = markedAll(leaves.map(({ value }) => value));
    if (!marks) {
      this.#alone.push(...leaves);
      return;
    }
    yield;
    const seen = this.#probes.with(leaves.map(({ path }, number) => ({ path, value: marks[number] })));
    if (seen?.difference.sameShape) this.#read(leaves, marks, seen);
    else if (leaves.length === 1 || isEnumeration(group) || leaves.every(({ value }) => this.#ids.has(value)))
      this.#setApart(leaves, seen);
    else for (const half of halves(group)) yield* this.#mark(half);
  }

  /** Ids stand in several places and must agree, or the writer refuses: they are marked in all of them at once. */
  *#markTogether(): SlicedWork<void> {
    const refused = new Set(this.#alone.map(({ value }) => value));
    const ids = [...this.#ids].filter(([value]) => refused.has(value));
    const marks = markedAll(ids.map(([id]) => id)) ?? [];
    const changes = ids.flatMap(([, same], number) => same.map(({ path }) => ({ path, value: marks[number] })));
    yield;
    const seen = changes.length > 0 ? this.#probes.with(changes) : undefined;
    if (!seen?.difference.sameShape) return;
    for (const key of seen.difference.keys) {
      const value = seen.after.get(key);
      for (const number of typeof value === 'string' ? marksIn(value) : [])
        for (const { path } of ids[number]?.[1] ?? []) this.#findings.flows(key, path);
    }
    this.#alone = this.#alone.filter(({ value }) => !this.#ids.has(value));
  }

  /** What stands in a few places may have to agree, too, be it a mere word: a tool's name, and the choice of it. */
  *#markSame(): SlicedWork<void> {
    for (const [value, same] of Map.groupBy(this.#alone, (leaf) => leaf.value)) {
      if (typeof value !== 'string' || same.length < 2 || same.length > MOST_SAME) continue;
      const [mark] = markedAll([value]) ?? [];
      yield;
      const seen = this.#probes.with(same.map(({ path }) => ({ path, value: mark })));
      if (!seen?.difference.sameShape) continue;
      const keys = seen.difference.keys.filter((key) => seen.after.get(key) === mark);
      for (const key of keys) for (const { path } of same) this.#findings.flows(key, path);
      if (keys.length > 0) this.#alone = this.#alone.filter((leaf) => leaf.value !== value);
    }
  }

  #setApart(leaves: readonly Leaf[], seen: ProbeResult | undefined): void {
    const [only, second] = leaves;
    if (seen && only && !second) this.#loosely(seen, only);
    this.#alone.push(...leaves);
  }

  /** Finds the marks again. A value that has changed without any says that not all can be told apart. */
  #read(leaves: readonly Leaf[], marks: readonly unknown[], { after, difference }: ProbeResult): void {
    const [only, second] = leaves;
    if (only && !second) {
      for (const key of difference.keys) this.#came(key, only, { mark: marks[0], after });
      if (difference.keys.length === 0) this.#alone.push(only);
      return;
    }
    const byMark = new Map(marks.map((mark, number) => [mark, number]));
    const found = new Set<number>();
    let unread = false;
    for (const key of difference.keys) {
      const value = after.get(key);
      const exact = typeof value === 'number' ? byMark.get(value) : undefined;
      const numbers = typeof value === 'string' ? marksIn(value) : exact === undefined ? [] : [exact];
      unread ||= numbers.length === 0;
      for (const number of numbers) {
        const leaf = leaves[number];
        if (!leaf) continue;
        found.add(number);
        this.#findings.flows(key, leaf.path);
      }
    }
    if (unread) this.#alone.push(...leaves.filter((_, number) => !found.has(number)));
  }

  /** One leaf, to one value after another, until something comes of it. */
  *#change(leaf: Leaf): SlicedWork<void> {
    const { path } = leaf;
    const key = `${patternOf(leaf)} ${String(leaf.value).slice(0, 64)}`;
    const experience = this.#experience.get(key) ?? { vain: 0, loose: 0, worked: undefined };
    this.#experience.set(key, experience);
    if (experience.vain >= MAX_VAIN || experience.loose >= MAX_LOOSE) return;
    const alternatives = alternativesTo(leaf);
    const tried = experience.worked === undefined ? alternatives : [alternatives[experience.worked]];
    for (const value of tried) {
      yield;
      const seen = this.#probes.with([{ path, value }]);
      if (!seen || seen.difference.keys.length === 0) continue;
      experience.worked ??= alternatives.indexOf(value);
      experience.loose += Number(!seen.difference.sameShape);
      if (!seen.difference.sameShape) this.#loosely(seen, leaf);
      else for (const field of seen.difference.keys) this.#came(field, leaf, { mark: value, after: seen.after });
      return;
    }
    experience.vain += 1;
  }

  #came(
    key: string,
    leaf: Leaf,
    { mark, after }: { readonly mark: unknown; readonly after: ProbeResult['after'] },
  ): void {
    const value = after.get(key);
    const isThere =
      value === mark || (typeof value === 'string' && (marksIn(value).length > 0 || value.includes(String(mark))));
    if (isThere || saysItsKind(leaf)) this.#findings.flows(key, leaf.path);
    else this.#findings.direct(key, leaf.path);
  }

  #loosely({ difference }: ProbeResult, { path }: Leaf): void {
    this.#findings.loose(difference.keys, path);
  }

  /** What no leaf accounts for may be there because something whole is: tools, the choice among them, a level of effort. */
  *#removeWholes(): SlicedWork<void> {
    for (const path of wholesOf(this.#input)) {
      if (this.#findings.allSettled()) return;
      yield;
      const seen = this.#probes.with([{ path, value: REMOVED }]);
      if (seen) this.#findings.whole(seen.difference.keys, path);
    }
  }
}

/** With a digit, or of several parts: no word of an API that many fields say. */
const isId = (value: unknown): boolean => typeof value === 'string' && value.length <= 256 && /[\d_-]/.test(value);

/** In more places it is a word of the API. */
const MOST_SAME = 4;

/** With so many like it in vain, a leaf is not tried. */
const MAX_VAIN = 3;

/** What so many of a kind have moved, the others of the kind move too: `Findings` says it of them without a probe. */
const MAX_LOOSE = 4;

interface Experience {
  vain: number;
  /** Times that it moved what is written about. */
  loose: number;
  /** Number of the alternative that something came of. */
  worked: number | undefined;
}

/** What stands at the second level, and the objects and lists of the first. */
function wholesOf(input: unknown): readonly LeafPath[] {
  if (!isObject(input)) return [];
  const first = Object.keys(input).filter((name) => typeof input[name] === 'object' && input[name] !== null);
  const second = first.flatMap((name) => {
    const inner = input[name];
    return isObject(inner) ? Object.keys(inner).map((one) => [name, one]) : [];
  });
  return [...second, ...first.map((name) => [name])];
}
