import type { GatewayKey } from '../../../schemas/types.generated.ts';
import { digestsOf } from '../../settings/compile/api-keys.ts';
import type { StoredKey, StoredObjects } from '../../settings/read/stored-objects.ts';
import type { Entity, EntityDoc, PutChange } from '../../state/entities.ts';

// A key of the store is an entry of keys.yaml in two parts: its document, and its digests with their times.

/** The entry of keys.yaml that a key of the store stands for. Undefined: it has no digest, so no request can have it. */
export function keyOf({ id, doc, digests, updatedBy, updatedAt }: Entity): StoredKey | undefined {
  const [own, previous] = [0, 1].map((slot) => digests.find((digest) => digest.slot === slot));
  if (!own) return undefined;
  const key = {
    id,
    digest: own.digest,
    ...doc,
    ...(previous?.validTo !== undefined && {
      previous: { digest: previous.digest, expires_at: new Date(previous.validTo).toISOString() },
    }),
    ...(own.validTo !== undefined && { expires_at: new Date(own.validTo).toISOString() }),
  };
  return { key, by: updatedBy, at: updatedAt };
}

export const storedObjectsOf = (entities: readonly Entity[]): StoredObjects => ({
  complete: true,
  keys: entities.flatMap((entity) => (entity.kind === 'keys' ? (keyOf(entity) ?? []) : [])),
});

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
