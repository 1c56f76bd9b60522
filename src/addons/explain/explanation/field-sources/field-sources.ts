import { Findings } from './findings.ts';
import {
  leavesOf,
  REMOVED,
  type Leaf,
  type LeafValue,
  type LeafPath,
  groupsOf,
  halves,
  isEnumeration,
  patternOf,
  type LeafGroup,
} from './leaves.ts';
import { alternativesTo, markedAll, marksIn, carriesItsKind } from './marks.ts';
import { Probes, type ProbeResult, type Writing } from './probes.ts';
import type { Steps } from '../../../../formats/steps.ts';
import { isObject } from '../../../../formats/json/object.ts';

interface FieldSources {
  /**
   * The sources of every leaf of the output, in its order. `from` is empty when no part of the input affects the leaf.
   */
  readonly fields: readonly { readonly path: LeafPath; readonly from: readonly LeafPath[] }[];
  /** Number of encodings. */
  readonly probes: number;
  /** False: the probes ran out; the remaining fields are attributed to their enclosing message or item. */
  readonly complete: boolean;
}

export const MAX_PROBES = 600;

/**
 * Finds the sources of each output field by dependence: an input is changed, and the output fields that change depend
 * on it. So no table has to repeat the encoder's rules. Free strings and numbers are marked many at a time. A value
 * that the writer would reject when marked is changed alone, to another word of its kind. Pauses before each encoding,
 * for a process that has other work.
 */
export function* fieldSources(writing: Writing, maxProbes: number = MAX_PROBES): Steps<FieldSources> {
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
  /** Leaves to change one at a time. */
  #alone: Leaf[] = [];
  /** Ids that occur in several places. */
  #ids: ReadonlyMap<LeafValue, readonly Leaf[]> = new Map();
  /** Results of changing leaves with the same pattern and value. */
  readonly #experience = new Map<string, Experience>();

  constructor(input: unknown, probes: Probes) {
    this.#input = input;
    this.#probes = probes;
    this.#findings = new Findings(probes.before);
  }

  *run(maxProbes: number): Steps<FieldSources> {
    const leaves = [...leavesOf(this.#input).values()].filter(({ path }) => path.length > 0);
    const places = [...Map.groupBy(leaves, ({ value }) => value)];
    this.#ids = new Map(places.filter(([value, { length }]) => length > 1 && isId(value)));
    for (const group of groupsOf(leaves)) yield* this.#mark(group);
    yield* this.#markTogether();
    yield* this.#markSame();
    const tried = [...this.#alone, ...leaves.filter((leaf) => carriesItsKind(leaf))];
    for (const leaf of tried) yield* this.#change(leaf);
    yield* this.#removeWholes();
    const complete = this.#probes.left > 0;
    return {
      fields: this.#findings.sources({ input: leavesOf(this.#input), complete }),
      probes: maxProbes - this.#probes.left,
      complete,
    };
  }

  *#mark(group: LeafGroup): Steps<void> {
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

  /** An id's occurrences must agree, or the writer rejects the request, so all of them are marked at once. */
  *#markTogether(): Steps<void> {
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

  /** A word in a few places may also have to agree: a tool's name and the tool choice. */
  *#markSame(): Steps<void> {
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

  /** Finds the marks in the output. A changed value without a mark means that not all leaves can be distinguished. */
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

  /** Changes one leaf to its alternatives in turn, until the output changes. */
  *#change(leaf: Leaf): Steps<void> {
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
    if (isThere || carriesItsKind(leaf)) this.#findings.flows(key, leaf.path);
    else this.#findings.direct(key, leaf.path);
  }

  #loosely({ difference }: ProbeResult, { path }: Leaf): void {
    this.#findings.loose(difference.keys, path);
  }

  /**
   * A field that no leaf accounts for may depend on a whole object or list: tools, the tool choice, a level of effort.
   */
  *#removeWholes(): Steps<void> {
    for (const path of wholesOf(this.#input)) {
      if (this.#findings.allSettled()) return;
      yield;
      const seen = this.#probes.with([{ path, value: REMOVED }]);
      if (seen) this.#findings.whole(seen.difference.keys, path);
    }
  }
}

/** Whether a value looks like an id: it contains a digit or a separator, unlike the common words of an API. */
const isId = (value: unknown): boolean => typeof value === 'string' && value.length <= 256 && /[\d_-]/.test(value);

/** A word in more places is a word of the API. */
const MOST_SAME = 4;

/** After this many fruitless attempts with similar leaves, a leaf is skipped. */
const MAX_VAIN = 3;

/**
 * After this many similar leaves changed the shape, the others are assumed to do the same: `Findings` infers it without
 * a probe.
 */
const MAX_LOOSE = 4;

interface Experience {
  vain: number;
  /** Number of times that it changed the shape of the output. */
  loose: number;
  /** Index of the alternative that had an effect. */
  worked: number | undefined;
}

/** Paths of the second level, and of the objects and lists of the first. */
function wholesOf(input: unknown): readonly LeafPath[] {
  if (!isObject(input)) return [];
  const first = Object.keys(input).filter((name) => typeof input[name] === 'object' && input[name] !== null);
  const second = first.flatMap((name) => {
    const inner = input[name];
    return isObject(inner) ? Object.keys(inner).map((one) => [name, one]) : [];
  });
  return [...second, ...first.map((name) => [name])];
}
