import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { digestsOf } from '../../../core/settings/compile/api-keys.ts';
import { readStored } from '../settings/read-stored.ts';
import { STORED_KINDS, type StoredObject } from '../../../core/settings/source/stored-objects.ts';
import type { Entity, EntityDoc, PutChange } from '../../../core/ports/entities.ts';

/** Objects that are read and checked without a pause, 10 µs each (measured). */
const SLICE = 200;

/** The objects of which settings consist, those first to which others refer. Yields the event loop between slices. */
export async function readEntities(entities: readonly Entity[]): Promise<StoredObject[]> {
  const order = new Map<string, number>(STORED_KINDS.map((kind, index) => [kind, index]));
  const sorted = entities
    .filter(({ kind }) => order.has(kind))
    .toSorted((one, other) => order.get(one.kind)! - order.get(other.kind)!);
  const objects: StoredObject[] = [];
  for (const [index, entity] of sorted.entries()) {
    if (index > 0 && index % SLICE === 0) await nextTurn();
    const object = readStored(entity);
    if (object) objects.push(object);
  }
  return objects;
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The change that writes an entry of keys.yaml to the store. A key given by reference is stored as its digest. */
export function changeOf(entry: GatewayKey, now: number): PutChange {
  const { id, digest: _digest, key: _key, previous, expires_at: end, ...doc } = entry;
  const [own = '', before] = digestsOf(entry);
  const validTo = end === undefined ? undefined : Date.parse(end);
  const digests = [{ slot: 0, digest: own, last4: '', validFrom: now, validTo }];
  if (previous && before !== undefined)
    digests.push({ slot: 1, digest: before, last4: '', validFrom: 0, validTo: Date.parse(previous.expires_at) });
  return { op: 'put', kind: 'keys', id, doc: doc as EntityDoc, digests, ifVersion: 0 };
}
