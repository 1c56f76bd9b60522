import { ShardedChanges, ShardedMap } from '../tenants/sharded-map.ts';
import {
  nameOf,
  type StoredChanges,
  type StoredObject,
  type StoredObjects,
} from '../settings/source/stored-objects.ts';

/** The objects of the state store as a process knows them. Each version of them is immutable. */
export class ObjectReplica {
  #objects = new ShardedMap<StoredObject>();
  #now: StoredObjects;
  readonly #listeners = new Set<(changes: StoredChanges) => void>();

  /** @param known false: nothing is known yet */
  constructor(known = true) {
    this.#now = { known, objects: this.#objects };
  }

  get now(): StoredObjects {
    return this.#now;
  }

  onChange(listener: (changes: StoredChanges) => void): void {
    this.#listeners.add(listener);
  }

  apply(changes: StoredChanges): void {
    const { known, changed, gone } = changes;
    if (known === this.#now.known && changed.length === 0 && gone.length === 0) return;
    const objects = new ShardedChanges(this.#objects);
    for (const name of gone) objects.delete(name);
    for (const object of changed) objects.set(nameOf(object), object);
    this.#objects = objects.done();
    this.#now = { known, objects: this.#objects };
    for (const listener of this.#listeners) listener(changes);
  }

  /** All objects as changes, for a process that has none yet. */
  all(): StoredChanges {
    return { known: this.#now.known, changed: [...this.#now.objects.values()], gone: [] };
  }
}
