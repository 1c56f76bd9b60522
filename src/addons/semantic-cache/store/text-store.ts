import type { KeptText, TextFacts, TextPlace } from '../../../core/kernel/index.ts';
import type { ReplyStoreSize } from '../../../core/memory/ports.ts';
import { VectorBlock } from './vector-block.ts';

export interface TextStoreLimits {
  readonly maxBytes: number;
  readonly scopeBytes: number;
  readonly scopeEntries: number;
}

type StoredText = Pick<KeptText, 'key' | 'facts'> & { readonly text: string };

/** The memory of a text besides its characters, and of a group besides its vectors. */
const TEXT_OVERHEAD = 512;
const GROUP_OVERHEAD = 512;

const NOTHING: TextStoreLimits = { maxBytes: 0, scopeBytes: 0, scopeEntries: 0 };

class StoredEntry implements KeptText {
  readonly key: string;
  readonly facts: TextFacts;
  readonly group: Group;
  readonly #fixedBytes: number;
  text: string | undefined;
  /** In the block of its group; undefined without a vector. */
  row: number | undefined;

  constructor(group: Group, { key, facts, text }: StoredText) {
    this.group = group;
    this.key = key;
    this.facts = facts;
    this.text = text;
    this.#fixedBytes = TEXT_OVERHEAD + 2 * [key, ...Object.values(facts)].reduce((sum, one) => sum + one.length, 0);
  }

  get bytes(): number {
    return this.#fixedBytes + 2 * (this.text?.length ?? 0);
  }
}

interface Group {
  readonly scope: Scope;
  readonly name: string;
  /** By key, the least recently used first. */
  readonly entries: Map<string, StoredEntry>;
  readonly rows: StoredEntry[];
  block: VectorBlock | undefined;
}

interface Scope {
  readonly name: string;
  readonly groups: Map<string, Group>;
  /** The least recently used first. */
  readonly used: Set<StoredEntry>;
  bytes: number;
}

/**
 * Texts and vectors in memory. A scope that is full evicts its own least recently used text, so that no key displaces the
 * texts of another; only when all scopes together are full, the least recently used text of all goes.
 */
export class MemoryTextStore {
  readonly limits: TextStoreLimits;
  readonly #onChange: (size: ReplyStoreSize) => void;
  readonly #scopes = new Map<string, Scope>();
  readonly #used = new Set<StoredEntry>();
  #bytes = 0;

  /** @param onChange called when the size of the store has changed */
  constructor(limits: TextStoreLimits = NOTHING, onChange: (size: ReplyStoreSize) => void = () => {}) {
    this.limits = limits;
    this.#onChange = onChange;
  }

  get size(): ReplyStoreSize {
    return { entries: this.#used.size, bytes: this.#bytes };
  }

  /** Texts of a group, the least recently used first. Does not count as a use. */
  readonly texts = ({ scope, group }: TextPlace): readonly KeptText[] => [
    ...(this.#scopes.get(scope)?.groups.get(group)?.entries.values() ?? []),
  ];

  /** Stores a text, instead of an earlier one with the same key in its group. */
  add(place: TextPlace, text: StoredText, vector?: Float32Array): void {
    const before = this.#scopes.get(place.scope)?.groups.get(place.group)?.entries.get(text.key);
    // Removing the last entry drops its group.
    if (before) this.remove(before);
    const scope = this.#scopeOf(place.scope);
    const group = this.#groupIn(scope, place.group);
    const entry = new StoredEntry(group, text);
    group.entries.set(entry.key, entry);
    this.#count(scope, entry.bytes);
    this.#touch(entry);
    if (vector) this.keepVector(entry, vector);
    this.#evict(scope);
    this.#onChange(this.size);
  }

  similarity(kept: KeptText, vector: Float32Array): number | undefined {
    const entry = this.#entryOf(kept);
    const block = entry?.group.block;
    return entry?.row === undefined || block?.dimensions !== vector.length ? undefined : block.dot(entry.row, vector);
  }

  vectorOf(kept: KeptText): Float32Array | undefined {
    const entry = this.#entryOf(kept);
    return entry?.row === undefined ? undefined : entry.group.block?.row(entry.row);
  }

  keepVector(kept: KeptText, vector: Float32Array): void {
    const entry = this.#entryOf(kept);
    if (!entry || entry.row !== undefined) return;
    const { group } = entry;
    if (group.block && group.block.dimensions !== vector.length) this.#dropVectors(group);
    const block = (group.block ??= new VectorBlock(vector.length));
    const before = block.bytes + entry.bytes;
    entry.row = block.push(vector);
    group.rows[entry.row] = entry;
    entry.text = undefined;
    this.#count(group.scope, block.bytes + entry.bytes - before);
    this.#evict(group.scope);
    this.#onChange(this.size);
  }

  use(kept: KeptText): void {
    const entry = this.#entryOf(kept);
    if (entry) this.#touch(entry);
  }

  remove(kept: KeptText): void {
    const entry = this.#entryOf(kept);
    if (!entry) return;
    const { group } = entry;
    const { scope } = group;
    const before = group.block?.bytes ?? 0;
    if (entry.row !== undefined && group.block) {
      const last = group.rows[group.block.remove(entry.row)]!;
      group.rows[entry.row] = last;
      last.row = entry.row;
      group.rows.pop();
      entry.row = undefined;
    }
    group.entries.delete(entry.key);
    scope.used.delete(entry);
    this.#used.delete(entry);
    this.#count(scope, (group.block?.bytes ?? 0) - before - entry.bytes);
    if (group.entries.size > 0) return;
    scope.groups.delete(group.name);
    this.#count(scope, -GROUP_OVERHEAD - (group.block?.bytes ?? 0));
    if (scope.groups.size === 0) this.#scopes.delete(scope.name);
  }

  /** The model makes vectors of another length now: the texts of the old ones are gone, so the entries go too. */
  #dropVectors(group: Group): void {
    for (let last = group.rows.at(-1); last; last = group.rows.at(-1)) this.remove(last);
    this.#count(group.scope, -(group.block?.bytes ?? 0));
    group.block = undefined;
  }

  #scopeOf(name: string): Scope {
    let scope = this.#scopes.get(name);
    if (!scope) this.#scopes.set(name, (scope = { name, groups: new Map(), used: new Set(), bytes: 0 }));
    return scope;
  }

  #groupIn(scope: Scope, name: string): Group {
    let group = scope.groups.get(name);
    if (!group) {
      group = { scope, name, entries: new Map(), rows: [], block: undefined };
      scope.groups.set(name, group);
      this.#count(scope, GROUP_OVERHEAD);
    }
    return group;
  }

  /** Undefined for a text that was removed, or of another store. */
  readonly #entryOf = (kept: KeptText): StoredEntry | undefined =>
    kept instanceof StoredEntry && this.#used.has(kept) ? kept : undefined;

  #touch(entry: StoredEntry): void {
    for (const order of [entry.group.scope.used, this.#used]) {
      order.delete(entry);
      order.add(entry);
    }
    const { entries } = entry.group;
    entries.delete(entry.key);
    entries.set(entry.key, entry);
  }

  #count(scope: Scope, bytes: number): void {
    scope.bytes += bytes;
    this.#bytes += bytes;
  }

  #evict(scope: Scope): void {
    const { scopeEntries, scopeBytes, maxBytes } = this.limits;
    while (scope.used.size > scopeEntries || (scope.bytes > scopeBytes && scope.used.size > 0))
      this.#removeFirst(scope.used);
    while (this.#bytes > maxBytes && this.#used.size > 0) this.#removeFirst(this.#used);
  }

  #removeFirst(order: ReadonlySet<StoredEntry>): void {
    const [first] = order;
    if (first) this.remove(first);
  }
}
