import type { KeyUse } from '../../../../core/ports/entities.ts';
import type { CallAnswer, Call } from '../call.ts';
import type { OwnedObject } from '../objects.ts';

/** RFC 3339 in UTC. @param at milliseconds since 1970 */
export const moment = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());

export const metaOf = ({ id, owner, etag, entity }: Pick<OwnedObject, 'id' | 'owner' | 'etag' | 'entity'>): object => ({
  id,
  owner,
  etag,
  updated_by: entity?.updatedBy ?? null,
  updated_at: moment(entity?.updatedAt),
});

export async function answerWith(object: OwnedObject, call: Call): Promise<CallAnswer> {
  const [body] = await show([object], call);
  return { body: body!, headers: { etag: object.etag } };
}

export async function show(objects: readonly OwnedObject[], call: Call): Promise<readonly object[]> {
  if (objects[0]?.kind === 'keys') return showKeys(objects, call);
  return objects.map((object) => ({ ...metaOf(object), spec: object.spec }));
}

async function showKeys(keys: readonly OwnedObject[], { objects, clock }: Call): Promise<readonly object[]> {
  const uses = objects.hasStore ? await objects.store.entities.lastUses(keys.map(({ id }) => id)) : [];
  const byId = new Map(uses.map((use) => [use.keyId, use]));
  return keys.map((key) => showKey(key, byId.get(key.id), clock.wall()));
}

const showKey = (key: OwnedObject, use: KeyUse | undefined, now: number): object => ({
  ...metaOf(key),
  spec: key.spec,
  state: stateOf(key, now),
  credentials: key.credentials.map(({ slot, last4, validFrom, validTo }) => ({
    slot,
    last4,
    valid_from: validFrom === 0 ? null : moment(validFrom),
    valid_to: moment(validTo),
  })),
  last_used: use ? { at: moment(use.at), address: use.address } : null,
});

function stateOf({ credentials, spec }: OwnedObject, now: number): string {
  const own = credentials.find(({ slot }) => slot === 0);
  if (!own) return 'revoked';
  if (spec['disabled'] === true) return 'disabled';
  return own.validTo !== undefined && own.validTo <= now ? 'expired' : 'active';
}
