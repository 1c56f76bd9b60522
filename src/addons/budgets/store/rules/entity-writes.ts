import { createHash } from 'node:crypto';
import type { AuditEvent } from '../../../../core/ports/audit.ts';
import {
  hasDigests,
  MAX_ENTITIES,
  type Actor,
  type DigestKind,
  type EntityChange,
  type EntityKind,
  type EntityRef,
  type Epoch,
  type KeyDigest,
  type PutChange,
  type Version,
} from '../../../../core/ports/entities.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { checkActor, checkChanges } from './checks.ts';
import type { KeyEncryptionKeys, SealedPlace } from './sealing.ts';

export interface EntityRow extends EntityRef {
  readonly version: Version;
  /** JSON text; empty when deleted. */
  readonly doc: string;
  readonly updatedBy: string;
  readonly updatedAt: number;
  /** 1: deleted. */
  readonly gone: number;
}

export interface SealedField {
  readonly field: string;
  /** The store's version when the field was sealed, a part of its place. */
  readonly version: Version;
  readonly envelope: string;
}

/** The tables of a backend within one transaction: it keeps the effects of all calls below, or, when one throws, of none. */
export interface EntityTables {
  version(): Version;
  entity(ref: EntityRef): EntityRow | undefined;
  count(kind: EntityKind): number;
  digests(kind: DigestKind, id: string): readonly KeyDigest[];
  digestOwner(kind: DigestKind, digest: string): string | undefined;
  sealed(ref: EntityRef): readonly SealedField[];
  saveVersion(version: Version): void;
  saveEntity(row: EntityRow): void;
  saveDigests(kind: DigestKind, id: string, digests: readonly KeyDigest[]): void;
  saveSealed(ref: EntityRef, field: string, sealed: SealedField | undefined): void;
  addAudit(event: AuditEvent, by: Actor): void;
}

export const placeOf = ({ kind, id }: EntityRef, field: string, version: Version): SealedPlace => ({
  table: 'entity',
  id: `${kind}/${id}`,
  field,
  version,
});

export const epochEvent = (before: Epoch, after: Epoch, reason: string): AuditEvent => ({
  action: after.accepted ? 'accept_rollback' : 'restore',
  kind: 'store',
  id: 'epoch',
  before: JSON.stringify({ epoch: before.id }),
  after: JSON.stringify({ epoch: after.id }),
  reason,
});

interface EntityWrite {
  readonly changes: readonly EntityChange[];
  readonly by: Actor;
  readonly now: number;
  readonly keys: KeyEncryptionKeys;
}

export function writeEntities(tables: EntityTables, write: EntityWrite): Version {
  checkActor(write.by);
  const texts = checkChanges(write.changes);
  const version = tables.version() + 1;
  // Counted once for each kind of a write: counting is linear in the objects of the store.
  const counts = new Map<EntityKind, number>();
  for (const [index, change] of write.changes.entries())
    applyChange(tables, write, { change, text: texts[index], version, counts });
  tables.saveVersion(version);
  return version;
}

interface OneChange {
  readonly change: EntityChange;
  readonly text: string | undefined;
  readonly version: Version;
  readonly counts: Map<EntityKind, number>;
}

function applyChange(
  tables: EntityTables,
  { by, now, keys }: EntityWrite,
  { change, text, version, counts }: OneChange,
): void {
  const name = `${change.kind}/${change.id}`;
  const found = tables.entity(change);
  if (found?.gone) throw new StateFailure('id_gone', `${name} was deleted, and ids are not given again`);
  if (change.op === 'delete' && !found) throw new StateFailure('not_found', `there is no ${name}`);
  if (change.ifVersion !== undefined && change.ifVersion !== (found?.version ?? 0))
    throw new StateFailure(
      'conflict',
      found ? `${name} has version ${found.version}, not ${change.ifVersion}` : `there is no ${name}`,
    );
  if (!found) countNew(tables, change.kind, counts);
  const before = found && shown(tables, change, found.doc);
  const secrets = change.op === 'put' ? seal(tables, keys, { change, version }) : undefined;
  if (change.op === 'delete') {
    for (const { field } of tables.sealed(change)) tables.saveSealed(change, field, undefined);
    if (hasDigests(change.kind)) tables.saveDigests(change.kind, change.id, []);
  } else if (change.digests && hasDigests(change.kind)) {
    checkOwners(tables, change.kind, change);
    tables.saveDigests(change.kind, change.id, change.digests);
  }
  const { kind, id } = change;
  tables.saveEntity({
    kind,
    id,
    version,
    doc: text ?? '',
    updatedBy: by.id,
    updatedAt: now,
    gone: Number(change.op === 'delete'),
  });
  const after = text === undefined ? undefined : shown(tables, change, text, secrets);
  tables.addAudit({ action: change.op, kind, id, before, after, reason: change.reason }, by);
}

function countNew(tables: EntityTables, kind: EntityKind, counts: Map<EntityKind, number>): void {
  const count = counts.get(kind) ?? tables.count(kind);
  if (count >= MAX_ENTITIES) throw new StateFailure('full', `the store has ${MAX_ENTITIES} objects of kind ${kind}`);
  counts.set(kind, count + 1);
}

function seal(
  tables: EntityTables,
  keys: KeyEncryptionKeys,
  { change, version }: { readonly change: PutChange; readonly version: Version },
): Record<string, string> {
  const fingerprints: Record<string, string> = {};
  for (const [field, value] of Object.entries(change.secrets ?? {})) {
    const envelope = value === undefined ? undefined : keys.seal(value, placeOf(change, field, version));
    tables.saveSealed(change, field, envelope === undefined ? undefined : { field, version, envelope });
    if (value !== undefined) fingerprints[field] = keys.fingerprint(value);
  }
  return fingerprints;
}

function checkOwners(tables: EntityTables, kind: DigestKind, { id, digests = [] }: PutChange): void {
  for (const { digest } of digests) {
    const owner = tables.digestOwner(kind, digest);
    if (owner !== undefined && owner !== id)
      throw new StateFailure('digest_taken', `${kind}/${id} has the digest of ${kind}/${owner}`);
  }
}

/** The part of an object that an audit row has: its document, and the names of its digests and secrets. */
function shown(
  tables: EntityTables,
  ref: EntityRef,
  doc: string,
  secrets: Readonly<Record<string, string>> = {},
): string {
  const digests = hasDigests(ref.kind) ? tables.digests(ref.kind, ref.id) : [];
  const sealed = tables.sealed(ref);
  const parts = [`"doc":${doc}`];
  if (digests.length > 0) parts.push(`"digests":${JSON.stringify(digests.map(shownDigest))}`);
  if (sealed.length > 0)
    parts.push(
      `"secrets":${JSON.stringify(Object.fromEntries(sealed.map(({ field, version }) => [field, secrets[field] ?? `version ${version}`])))}`,
    );
  return `{${parts.join(',')}}`;
}

const shownDigest = ({ digest, ...rest }: KeyDigest): object => ({
  ...rest,
  digest: createHash('sha256').update(digest).digest('hex').slice(0, 8),
});
