import { createHash } from 'node:crypto';
import type { AuditEvent } from '../audit.ts';
import {
  MAX_ENTITIES,
  type Actor,
  type Change,
  type EntityKind,
  type EntityRef,
  type KeyDigest,
  type PutChange,
  type Version,
} from '../entities.ts';
import { StateFailure } from '../failures.ts';
import { checkActor, checkChanges } from './checks.ts';
import type { KeyEncryptionKeys, SealedPlace } from './sealing.ts';

/** A row of an object, the deleted ones included. */
export interface EntityRow extends EntityRef {
  readonly version: Version;
  /** JSON text; empty when deleted. */
  readonly doc: string;
  readonly updatedBy: string;
  readonly updatedAt: number;
  readonly gone: boolean;
}

export interface SealedField {
  readonly field: string;
  /** The store's version when the field was sealed, a part of its place. */
  readonly version: Version;
  readonly envelope: string;
}

/** What a backend has within one transaction: it keeps all of the calls below, or, when one throws, none. */
export interface EntityTables {
  version(): Version;
  entity(ref: EntityRef): EntityRow | undefined;
  count(kind: EntityKind): number;
  digests(keyId: string): readonly KeyDigest[];
  digestOwner(digest: string): string | undefined;
  sealed(ref: EntityRef): readonly SealedField[];
  saveVersion(version: Version): void;
  saveEntity(row: EntityRow): void;
  saveDigests(keyId: string, digests: readonly KeyDigest[]): void;
  saveSealed(ref: EntityRef, field: string, sealed: SealedField | undefined): void;
  addAudit(event: AuditEvent, by: Actor): void;
}

export const placeOf = ({ kind, id }: EntityRef, field: string, version: Version): SealedPlace => ({
  table: 'entity',
  id: `${kind}/${id}`,
  field,
  version,
});

export interface EntityWrite {
  readonly changes: readonly Change[];
  readonly by: Actor;
  readonly now: number;
  readonly keys: KeyEncryptionKeys;
}

/** One write, the same for every backend. */
export function writeEntities(tables: EntityTables, write: EntityWrite): Version {
  checkActor(write.by);
  const texts = checkChanges(write.changes);
  const version = tables.version() + 1;
  write.changes.forEach((change, index) => applyChange(tables, write, { change, text: texts[index], version }));
  tables.saveVersion(version);
  return version;
}

interface OneChange {
  readonly change: Change;
  readonly text: string | undefined;
  readonly version: Version;
}

function applyChange(tables: EntityTables, { by, now, keys }: EntityWrite, { change, text, version }: OneChange): void {
  const name = `${change.kind}/${change.id}`;
  const found = tables.entity(change);
  if (found?.gone) throw new StateFailure('id_gone', `${name} was deleted, and ids are not given again`);
  if (change.op === 'delete' && !found) throw new StateFailure('not_found', `there is no ${name}`);
  if (change.ifVersion !== undefined && change.ifVersion !== (found?.version ?? 0))
    throw new StateFailure(
      'conflict',
      found ? `${name} has version ${found.version}, not ${change.ifVersion}` : `there is no ${name}`,
    );
  if (!found && tables.count(change.kind) >= MAX_ENTITIES)
    throw new StateFailure('full', `the store has ${MAX_ENTITIES} objects of kind ${change.kind}`);
  const before = found && shown(tables, change, found.doc);
  const secrets = change.op === 'put' ? seal(tables, keys, { change, version }) : undefined;
  if (change.op === 'delete') {
    for (const { field } of tables.sealed(change)) tables.saveSealed(change, field, undefined);
    if (change.kind === 'keys') tables.saveDigests(change.id, []);
  } else if (change.digests) {
    checkOwners(tables, change);
    tables.saveDigests(change.id, change.digests);
  }
  const { kind, id } = change;
  tables.saveEntity({
    kind,
    id,
    version,
    doc: text ?? '',
    updatedBy: by.id,
    updatedAt: now,
    gone: change.op === 'delete',
  });
  const after = text === undefined ? undefined : shown(tables, change, text, secrets);
  tables.addAudit({ action: change.op, kind, id, before, after, reason: change.reason }, by);
}

/** Returns the fingerprints of the new values. */
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

function checkOwners(tables: EntityTables, { id, digests = [] }: PutChange): void {
  for (const { digest } of digests) {
    const owner = tables.digestOwner(digest);
    if (owner !== undefined && owner !== id)
      throw new StateFailure('digest_taken', `keys/${id} has the digest of keys/${owner}`);
  }
}

/** What an audit row shows of an object: its document, which digests it has, and which secrets. */
function shown(
  tables: EntityTables,
  ref: EntityRef,
  doc: string,
  secrets: Readonly<Record<string, string>> = {},
): string {
  const digests = ref.kind === 'keys' ? tables.digests(ref.id) : [];
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
