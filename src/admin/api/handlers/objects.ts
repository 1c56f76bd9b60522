import type { Entity, EntityDoc, KeyDigest, PutChange } from '../../../state/entities.ts';
import { actorOf, checkMatch, reasonOf, type Call, type Handler } from '../call.ts';
import { mergePatch } from '../merge-patch.ts';
import { IN_STORE, storedObject, type OwnedObject } from '../objects.ts';
import { pageOf } from '../pages.ts';
import { ApiProblem } from '../problems.ts';
import { checkReferences } from '../references.ts';
import type { ObjectKind } from '../routes.ts';
import { checkAgainst } from '../schemas.ts';
import { createSecret } from './secrets.ts';
import { answerWith, show } from './shown.ts';

export interface CreateBody {
  readonly id: string;
  readonly spec?: EntityDoc;
  readonly reason?: string;
}

interface PatchBody {
  readonly spec: EntityDoc;
  readonly reason?: string;
}

export const NOUN = { organizations: 'organization', teams: 'team', keys: 'key' } as const;

export const listObjects =
  (kind: ObjectKind): Handler =>
  async (call) => {
    const { objects, query } = call;
    const field = kind === 'keys' ? 'team' : 'organization';
    const wanted = query.all(field);
    const listed = objects
      .list(kind)
      .filter(({ spec }) => wanted.length === 0 || wanted.some((one) => one === spec[field]));
    const { items, next } = pageOf(listed, ({ id }) => id, query);
    return { body: { items: await show(items, call), ...(next !== undefined && { next }) } };
  };

export const getObject =
  (kind: ObjectKind): Handler =>
  (call) =>
    answerWith(call.objects.get(kind, call.id), call);

export const createObject =
  (kind: ObjectKind): Handler =>
  async (call) => {
    const { id, spec = {}, reason } = call.body as CreateBody;
    const { objects, clock } = call;
    const found = objects.find(kind, id);
    if (found)
      throw found.owner === IN_STORE
        ? new ApiProblem('exists', `The ${NOUN[kind]} "${id}" exists.`)
        : ownedByFiles(found);
    objects.checkOwned(kind);
    checkReferences(kind, id, spec, call);
    const secret = kind === 'keys' ? createSecret() : undefined;
    const now = clock.wall();
    const digests = secret && [
      { slot: 0, digest: secret.digest, last4: secret.last4, validFrom: now, validTo: undefined },
    ];
    const change = putOf({ kind, id, spec, digests, reason: reasonOf(call, reason), ifVersion: 0 });
    const object = await write(change, call);
    const answered = await answerWith(object, call);
    if (!secret) return answered;
    const key = call.query.dryRun ? null : secret.text;
    return { ...answered, body: { key, object: answered.body } };
  };

export const patchObject =
  (kind: ObjectKind): Handler =>
  async (call) => {
    const object = toChange(kind, call);
    const { spec: patch, reason } = call.body as PatchBody;
    const spec = mergePatch(object.spec, patch) as EntityDoc;
    checkAgainst(`${NOUN[kind]}_spec`, spec, '/spec');
    checkReferences(kind, object.id, spec, call);
    const digests = kind === 'keys' ? object.entity.digests : undefined;
    const { version } = object.entity;
    return answerWith(
      await write(
        putOf({ kind, id: object.id, spec, digests, reason: reasonOf(call, reason), ifVersion: version }),
        call,
      ),
      call,
    );
  };

export const deleteObject =
  (kind: ObjectKind): Handler =>
  async (call) => {
    const { id, entity } = toChange(kind, call);
    checkUnused(kind, id, call);
    const change = { op: 'delete', kind, id, ifVersion: entity.version, reason: reasonOf(call) } as const;
    if (!call.query.dryRun) await call.objects.store.entities.write([change], actorOf(call));
    return {};
  };

export interface StoredObject extends OwnedObject {
  readonly entity: Entity;
}

/** The object of the path, which a write may change. Throws otherwise. */
export function toChange(kind: ObjectKind, call: Call): StoredObject {
  const object = call.objects.get(kind, call.id);
  const { entity } = object;
  if (!entity) throw ownedByFiles(object);
  call.objects.checkOwned(kind);
  checkMatch(call, object.etag);
  return { ...object, entity };
}

const ownedByFiles = ({ kind, id, owner }: OwnedObject): ApiProblem =>
  new ApiProblem('owned_by_files', `The ${NOUN[kind]} "${id}" is in ${owner}: change it there.`);

interface PutParts {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly spec: EntityDoc;
  readonly digests: readonly KeyDigest[] | undefined;
  readonly reason: string;
  readonly ifVersion: number;
}

/** A write of an object of the API. */
type ObjectPut = PutChange & { readonly kind: ObjectKind };

/** `expires_at` of a key is the end of its own digest. */
export function putOf({ kind, spec, digests, ...rest }: PutParts): ObjectPut {
  if (kind !== 'keys') return { op: 'put', kind, doc: spec, ...rest };
  const { expires_at: end, ...doc } = spec;
  const validTo = typeof end === 'string' ? Date.parse(end) : undefined;
  return {
    op: 'put',
    kind,
    doc,
    digests: digests?.map((one) => (one.slot === 0 ? { ...one, validTo } : one)),
    ...rest,
  };
}

/** Writes a change and returns the object; a dry run only returns what it would be. */
export async function write(change: ObjectPut, call: Call): Promise<OwnedObject> {
  const { kind, id } = change;
  if (call.query.dryRun) return storedObject(imagined(change, call), kind);
  await call.objects.store.entities.write([change], actorOf(call));
  const object = (await call.again()).find(kind, id);
  // Another call has deleted it at the same moment.
  if (!object) throw new ApiProblem('precondition_failed', 'The object was deleted meanwhile.');
  return object;
}

const imagined = ({ kind, id, doc, digests = [] }: ObjectPut, call: Call): Entity => ({
  kind,
  id,
  version: call.objects.find(kind, id)?.entity?.version ?? 0,
  doc,
  sealed: [],
  digests,
  updatedBy: actorOf(call).id,
  updatedAt: call.clock.wall(),
});

const MEMBERS = { organizations: ['teams', 'organization'], teams: ['keys', 'team'] } as const;

/** Members of a deleted node would be refused or unlimited. */
function checkUnused(kind: ObjectKind, id: string, { objects }: Call): void {
  if (kind === 'keys') return;
  const [members, field] = MEMBERS[kind];
  const ids = objects.list(members).flatMap((object) => (object.spec[field] === id ? object.id : []));
  if (ids.length > 0)
    throw new ApiProblem(
      'in_use',
      `${ids.length} ${members} name it: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}.`,
    );
}
