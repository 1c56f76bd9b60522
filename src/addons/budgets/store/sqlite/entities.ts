import { randomBytes } from 'node:crypto';
import {
  DIGEST_KINDS,
  type Actor,
  type DigestKind,
  type EntityChange,
  type Entity,
  type EntityDoc,
  type EntityKind,
  type EntityRef,
  type Epoch,
  type KeyDigest,
  type KeyUse,
  type Loaded,
  type Version,
} from '../../../../core/ports/entities.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { checkActor, checkKeyUses } from '../rules/checks.ts';
import { epochEvent, placeOf, writeEntities } from '../rules/entity-writes.ts';
import type { EntityRow, EntityTables, SealedField, SealedPlace } from '../../../../core/ports/store-rules.ts';
import type { KeyEncryptionKeys } from '../rules/sealing.ts';
import type { SqliteAudit } from './audit.ts';
import type { Database } from './database.ts';

const ENTITY = 'SELECT kind, id, version, doc, updated_by AS updatedBy, updated_at AS updatedAt, gone FROM entity';
const DIGEST = 'slot, digest, last4, valid_from AS validFrom, valid_to AS validTo';

interface StoredDigest extends Omit<KeyDigest, 'validTo'> {
  readonly validTo: number | null;
}

export class SqliteEntities {
  readonly #db: Database;
  readonly #audit: SqliteAudit;
  readonly #keys: KeyEncryptionKeys;

  constructor(db: Database, audit: SqliteAudit, keys: KeyEncryptionKeys) {
    this.#db = db;
    this.#audit = audit;
    this.#keys = keys;
  }

  load(since: Version, now: number): Loaded {
    const rows = this.#db.all<EntityRow>(`${ENTITY} WHERE version > ? ORDER BY kind, id`, since);
    const digests = Map.groupBy(
      DIGEST_KINDS.flatMap((kind) =>
        this.#db.all<StoredDigest & EntityRef>(
          `SELECT kind, id, ${DIGEST} FROM ${SECRETS[kind]} JOIN entity ON kind = ? AND id = key_id WHERE version > ? ORDER BY slot`,
          kind,
          since,
        ),
      ),
      nameOf,
    );
    const sealed = Map.groupBy(
      this.#db.all<EntityRef & { field: string }>(
        'SELECT kind, id, field FROM sealed JOIN entity USING (kind, id) WHERE entity.version > ? ORDER BY field',
        since,
      ),
      nameOf,
    );
    return {
      version: this.#version(),
      epoch: this.#epoch(),
      at: now,
      changed: rows
        .filter(({ gone }) => gone === 0)
        .map((row) => entityOf(row, digests.get(nameOf(row)), sealed.get(nameOf(row)))),
      gone: rows.filter(({ gone }) => gone === 1).map(({ kind, id }) => ({ kind, id })),
    };
  }

  readonly write = (changes: readonly EntityChange[], by: Actor, now: number): Version =>
    this.#db.transaction(() => writeEntities(this.#tables(now), { changes, by, now, keys: this.#keys }));

  begin({ accepted, reason }: { readonly accepted: boolean; readonly reason: string }, by: Actor, now: number): Epoch {
    checkActor(by);
    return this.#db.transaction(() => {
      const before = this.#epoch();
      const epoch: Epoch = { id: randomBytes(16).toString('hex'), at: Math.max(now, before.at + 1), accepted };
      this.#db.run('DELETE FROM epoch');
      this.#db.insert('epoch', { id: epoch.id, at: epoch.at, accepted: Number(accepted) });
      this.#audit.append(epochEvent(before, epoch, reason), by, now);
      return epoch;
    });
  }

  #epoch(): Epoch {
    const { id, at, accepted } = this.#db.get<{ id: string; at: number; accepted: number }>(
      'SELECT id, at, accepted FROM epoch',
    )!;
    return { id, at, accepted: accepted === 1 };
  }

  unseal(ref: EntityRef, field: string): string {
    const found = this.#db.get<SealedField>(
      'SELECT field, version, envelope FROM sealed WHERE kind = ? AND id = ? AND field = ?',
      ref.kind,
      ref.id,
      field,
    );
    if (!found) throw new StateFailure('not_found', `${nameOf(ref)} has no secret "${field}"`);
    return this.#keys.open(found.envelope, placeOf(ref, field, found.version));
  }

  seen(uses: readonly KeyUse[]): void {
    checkKeyUses(uses);
    this.#db.transaction(() => {
      for (const { keyId, at, address } of uses)
        this.#db.run(
          `INSERT INTO key_seen (key_id, last_used_at, address) SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM entity WHERE kind = 'keys' AND id = ?1 AND gone = 0)
           ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at, address = excluded.address
           WHERE excluded.last_used_at > last_used_at`,
          keyId,
          at,
          address,
        );
    });
  }

  readonly lastUses = (keyIds: readonly string[]): KeyUse[] =>
    keyIds
      .flatMap(
        (id) =>
          this.#db.get<KeyUse>(
            'SELECT key_id AS keyId, last_used_at AS at, address FROM key_seen WHERE key_id = ?',
            id,
          ) ?? [],
      )
      .map((use) => ({ ...use }));

  /**
   * Runs at the start. Refuses a key whose value changed under the same name, and a ring that lacks the key of a stored secret. Then seals
   * the data keys of all secrets with the first key, and announces it in the audit, so that the others can be removed.
   */
  useKeys(now: number): void {
    this.#db.transaction(() => {
      for (const { envelope } of this.#db.all<{ envelope: string }>('SELECT envelope FROM key_check'))
        this.#keys.open(envelope, CHECK);
      const [first] = this.#keys.names;
      if (first === undefined) return;
      this.#audit.announceKey(now);
      this.#db.run('DELETE FROM key_check WHERE kid <> ?', first);
      const sealed = { kid: first, envelope: this.#keys.seal(CHECK.id, CHECK) };
      this.#db.insert('key_check', sealed, 'ON CONFLICT DO NOTHING');
      for (const row of this.#db.all<EntityRef & SealedField>('SELECT * FROM sealed')) {
        const envelope = this.#keys.rewrap(row.envelope, placeOf(row, row.field, row.version));
        if (envelope !== undefined) this.#db.put('sealed', ['kind', 'id', 'field'], { ...row, envelope });
      }
    });
  }

  readonly #version = (): Version =>
    this.#db.get<{ value: number }>(`SELECT value FROM sequence WHERE name = 'version'`)!.value;

  readonly #tables = (now: number): EntityTables => ({
    ...readTables(this.#db),
    ...savingTables(this.#db),
    version: () => this.#version(),
    addAudit: (event, by) => this.#audit.append(event, by, now),
  });
}

const readTables = (db: Database): Pick<EntityTables, 'entity' | 'count' | 'digests' | 'digestOwner' | 'sealed'> => ({
  entity: ({ kind, id }) => db.get<EntityRow>(`${ENTITY} WHERE kind = ? AND id = ?`, kind, id),
  count: (kind: EntityKind) =>
    db.get<{ count: number }>('SELECT count(*) AS count FROM entity WHERE kind = ?', kind)!.count,
  digests: (kind, id) =>
    db.all<StoredDigest>(`SELECT ${DIGEST} FROM ${SECRETS[kind]} WHERE key_id = ? ORDER BY slot`, id).map(digestOf),
  digestOwner: (kind, digest) =>
    db.get<{ key_id: string }>(`SELECT key_id FROM ${SECRETS[kind]} WHERE digest = ?`, digest)?.key_id,
  sealed: ({ kind, id }) =>
    db.all<SealedField>(
      'SELECT field, version, envelope FROM sealed WHERE kind = ? AND id = ? ORDER BY field',
      kind,
      id,
    ),
});

type SavingTables = Pick<EntityTables, 'saveVersion' | 'saveEntity' | 'saveDigests' | 'saveSealed'>;

const savingTables = (db: Database): SavingTables => ({
  saveVersion: (version) => void db.run(`UPDATE sequence SET value = ? WHERE name = 'version'`, version),
  saveEntity: ({ updatedBy, updatedAt, gone, ...row }: EntityRow) =>
    db.put('entity', ['kind', 'id'], {
      ...row,
      updated_by: updatedBy,
      updated_at: updatedAt,
      gone,
    }),
  saveDigests: (kind, id, digests) => {
    db.run(`DELETE FROM ${SECRETS[kind]} WHERE key_id = ?`, id);
    for (const { slot, digest, last4, validFrom, validTo } of digests)
      db.insert(SECRETS[kind], {
        key_id: id,
        slot,
        digest,
        last4,
        valid_from: validFrom,
        valid_to: validTo ?? null,
      });
  },
  saveSealed: ({ kind, id }, field, sealed) => {
    db.run('DELETE FROM sealed WHERE kind = ? AND id = ? AND field = ?', kind, id, field);
    if (sealed) db.insert('sealed', { kind, id, field, version: sealed.version, envelope: sealed.envelope });
  },
});

const SECRETS: Readonly<Record<DigestKind, string>> = { keys: 'key_secret', tokens: 'token_secret' };

/** The place of a value sealed with a key: a key whose value changed under the same name cannot open it. */
const CHECK: SealedPlace = { table: 'key_check', id: 'gatehouse', field: 'check', version: 1 };

const nameOf = ({ kind, id }: EntityRef): string => `${kind}/${id}`;

const digestOf = ({ slot, digest, last4, validFrom, validTo }: StoredDigest): KeyDigest => ({
  slot,
  digest,
  last4,
  validFrom,
  validTo: validTo ?? undefined,
});

const entityOf = (
  { kind, id, version, doc, updatedBy, updatedAt }: EntityRow,
  digests: readonly StoredDigest[] = [],
  sealed: readonly { field: string }[] = [],
): Entity => ({
  kind,
  id,
  version,
  doc: JSON.parse(doc) as EntityDoc,
  sealed: sealed.map(({ field }) => field),
  digests: digests.map(digestOf),
  updatedBy,
  updatedAt,
});
