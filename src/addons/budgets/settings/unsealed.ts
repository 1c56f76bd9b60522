import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import type { Entities, Entity } from '../../../core/ports/entities.ts';
import type { StoredObject, StoredProvider } from '../../../core/settings/source/stored-objects.ts';

/** The sealed fields of an entry of the catalog; a text: why they do not open. */
export type ProviderSecrets = StoredProvider['value']['secrets'] | string;

/** The secrets of the entries of the catalog among these objects, by their ids. Messages of the store quote no value. */
export async function unsealProviders(
  entities: readonly Entity[],
  store: Pick<Entities, 'unseal'>,
): Promise<ReadonlyMap<string, ProviderSecrets>> {
  const opened = new Map<string, ProviderSecrets>();
  for (const entity of entities) {
    if (entity.kind !== 'providers') continue;
    try {
      const fields: [string, string][] = [];
      for (const field of entity.sealed) fields.push([field, await store.unseal(entity, field)]);
      opened.set(entity.id, Object.fromEntries(fields));
    } catch (error) {
      opened.set(entity.id, messageOf(error));
    }
  }
  return opened;
}

export function withSecrets(object: StoredObject, secrets: ReadonlyMap<string, ProviderSecrets>): StoredObject {
  if (object.kind !== 'providers') return object;
  const own = secrets.get(object.id) ?? {};
  return typeof own === 'string'
    ? { ...object, problem: own }
    : { ...object, value: { doc: object.value.doc, secrets: own } };
}
