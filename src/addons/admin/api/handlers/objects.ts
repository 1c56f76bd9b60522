import { isObject } from '../../../../core/kernel/index.ts';
import type { Entity, EntityChange, EntityDoc, KeyDigest, PutChange } from '../../../../core/ports/entities.ts';
import { actorOf, checkMatch, reasonOf, type Call, type Handler } from '../call.ts';
import { IN_STORE, storedObject, type OwnedObject } from '../objects.ts';
import { pageOf } from '../pages.ts';
import type { ParameterName } from '../parameters.ts';
import { ApiProblem } from '../problems.ts';
import { checkReferences } from '../references.ts';
import { NOUNS, type ObjectKind } from '../routes.ts';
import { checkAgainst } from '../schemas.ts';
import { isCompiled, storeSettings } from '../../../../core/settings/source/stored-objects.ts';
import { checkSealed, splitSpec, withSealed } from './sealed-fields.ts';
import { createSecret } from '../secrets.ts';
import { answerWith, show } from './object-answers.ts';
import { writeCompiled } from './stored-entries.ts';

const FILTERS: Readonly<Partial<Record<ObjectKind, ParameterName>>> = {
  teams: 'organization',
  keys: 'team',
  budgets: 'node',
  limits: 'node',
};

/** Requests and events look at each of them. */
const MOST: Readonly<Partial<Record<ObjectKind, number>>> = {
  prices: 2_000,
  alerts: 50,
  providers: 500,
  prompts: 500,
  configs: 500,
};

export const listObjects =
  (kind: ObjectKind): Handler =>
  async (call) => {
    const { objects, query } = call;
    const field = FILTERS[kind];
    const wanted = field === undefined ? [] : query.all(field);
    const listed = objects
      .list(kind)
      .filter(({ spec }) => wanted.length === 0 || wanted.some((one) => one === spec[field!]));
    const page = pageOf(listed, ({ id }) => id, query);
    return { body: { ...page, items: await show(page.items, call) } };
  };

export const getObject =
  (kind: ObjectKind): Handler =>
  (call) =>
    answerWith(call.objects.get(kind, call.id), call);

export const createObject =
  (kind: ObjectKind, answer = answerWith): Handler =>
  async (call) => {
    const {
      id,
      spec = {},
      reason,
    } = call.body as { readonly id: string; readonly spec?: EntityDoc; readonly reason?: string };
    const { objects, clock } = call;
    const found = objects.find(kind, id);
    if (found)
      throw found.owner === IN_STORE
        ? new ApiProblem('exists', `The ${NOUNS[kind]} "${id}" exists.`)
        : ownedByFiles(found);
    objects.checkOwned(kind);
    checkRoom(kind, call);
    checkSealed(kind, spec);
    checkReferences(kind, id, spec, call);
    const { doc, secrets } = splitSpec(kind, spec);
    const secret = kind === 'keys' ? createSecret(storeSettings(call.settings.server)?.peppers) : undefined;
    const now = clock.wall();
    const digests = secret && [
      { slot: 0, digest: secret.digest, last4: secret.last4, validFrom: now, validTo: undefined },
    ];
    const change = putOf({ kind, id, spec: doc, secrets, digests, reason: reasonOf(call, reason), ifVersion: 0 });
    const object = await write(change, call, spec);
    const answered = await answer(object, call);
    if (!secret) return answered;
    return { ...answered, body: { key: call.query.dryRun ? null : secret.text, object: answered.body } };
  };

export const patchObject =
  (kind: ObjectKind, answer = answerWith): Handler =>
  async (call) => {
    const object = toChange(kind, call);
    const { spec: patch, reason } = call.body as { readonly spec: EntityDoc; readonly reason?: string };
    const spec = mergePatch(object.spec, patch) as EntityDoc;
    checkAgainst(`${NOUNS[kind]}_spec`, spec, '/spec');
    const whole = await withSealed(kind, { entity: object.entity, spec, patch }, call);
    checkReferences(kind, object.id, whole, call);
    const { doc, secrets } = splitSpec(kind, spec, patch);
    const parts = {
      kind,
      id: object.id,
      spec: doc,
      secrets,
      digests: kind === 'keys' ? object.entity.digests : undefined,
      reason: reasonOf(call, reason),
      ifVersion: object.entity.version,
    };
    return answer(await write(putOf(parts), call, whole), call);
  };

/** Applies a JSON merge patch (RFC 7396): null removes a field, an object is merged, anything else replaces. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch))
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  return Object.fromEntries(merged);
}

export const deleteObject =
  (kind: ObjectKind): Handler =>
  async (call) => {
    const { id, entity } = toChange(kind, call);
    checkUnused(kind, id, call);
    const change = { op: 'delete', kind, id, ifVersion: entity.version, reason: reasonOf(call) } as const;
    await commit(change, undefined, call);
    return {};
  };

function checkRoom(kind: ObjectKind, { objects }: Call): void {
  const most = MOST[kind];
  if (most !== undefined && objects.names(kind).length >= most)
    throw new ApiProblem('store_full', `There are ${most} ${kind}, as many as there can be.`);
}

export interface ShownObject extends OwnedObject {
  readonly entity: Entity;
}

/** The object of the path, which a write may change. Throws otherwise. */
export function toChange(kind: ObjectKind, call: Call): ShownObject {
  const object = call.objects.get(kind, call.id);
  const { entity } = object;
  if (!entity) throw ownedByFiles(object);
  call.objects.checkOwned(kind);
  checkMatch(call, object.etag);
  return { ...object, entity };
}

const ownedByFiles = ({ kind, id, owner }: OwnedObject): ApiProblem =>
  new ApiProblem('owned_by_files', `The ${NOUNS[kind]} "${id}" is in ${owner}: change it there.`);

interface PutParts {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly spec: EntityDoc;
  readonly secrets?: PutChange['secrets'];
  readonly digests: readonly KeyDigest[] | undefined;
  readonly reason: string;
  readonly ifVersion: number;
}

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

/** Settings are compiled from entries of the catalog, prompts and configs: all processes have to accept them. @param spec with all secrets */
async function commit(change: EntityChange, spec: EntityDoc | undefined, call: Call): Promise<void> {
  const { kind } = change;
  if (isCompiled(kind)) return writeCompiled({ ...change, kind }, spec, call);
  if (!call.query.dryRun) await call.objects.store.entities.write([change], actorOf(call));
}

/** Writes a change and returns the object; a dry run only returns what it would be. @param spec with all secrets */
export async function write(change: ObjectPut, call: Call, spec = change.doc): Promise<OwnedObject> {
  const { kind, id } = change;
  await commit(change, spec, call);
  if (call.query.dryRun) return storedObject(imagined(change, call), kind);
  const object = (await call.readObjects()).find(kind, id);
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

const MEMBERS: Readonly<Partial<Record<ObjectKind, readonly [ObjectKind, string]>>> = {
  organizations: ['teams', 'organization'],
  teams: ['keys', 'team'],
};

/** Members of a deleted node would be refused, and its budgets and limits would bound nothing. */
function checkUnused(kind: ObjectKind, id: string, { objects }: Call): void {
  const ref = `${NOUNS[kind]}:${id}`;
  const member = MEMBERS[kind];
  const ids = [
    ...(member ? objects.list(member[0]).filter(({ spec }) => spec[member[1]] === id) : []),
    ...(['budgets', 'limits'] as const).flatMap((one) => objects.list(one).filter(({ spec }) => spec['node'] === ref)),
  ].map((object) => `${object.kind}/${object.id}`);
  if (ids.length > 0)
    throw new ApiProblem(
      'in_use',
      `${ids.length} ${ids.length === 1 ? 'object names' : 'objects name'} it: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}.`,
    );
}
