import {
  DIGEST_KINDS,
  type Actor,
  type DigestKind,
  type EntityChange,
  type Entity,
  type EntityDoc,
  type EntityKind,
  type EntityRef,
  type KeyDigest,
  type KeyUse,
  type Loaded,
  type Version,
} from '../../../../core/ports/entities.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { checkKeyUses } from '../rules/checks.ts';
import { placeOf, writeEntities, type EntityRow, type EntityTables, type SealedField } from '../rules/entity-writes.ts';
import type { KeyEncryptionKeys, SealedPlace } from '../rules/sealing.ts';
import type { SqliteAudit } from './audit.ts';
import type { Database } from './database.ts';

interface EntityColumns extends EntityRef {
  readonly version: number;
  readonly doc: string;
  readonly updated_by: string;
  readonly updated_at: number;
  readonly gone: number;
}

interface StoredDigest {
  readonly key_id: string;
  readonly slot: number;
  readonly digest: string;
  readonly last4: string;
  readonly valid_from: number;
  readonly valid_to: number | null;
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

  load(since: Version): Loaded {
    const rows = this.#db.all<EntityColumns>('SELECT * FROM entity WHERE version > ? ORDER BY kind, id', since);
    const digests = Map.groupBy(
      DIGEST_KINDS.flatMap((kind) =>
        this.#db.all<StoredDigest & EntityRef>(
          `SELECT kind, id, secret.* FROM ${SECRETS[kind]} AS secret JOIN entity ON kind = ? AND id = key_id WHERE version > ? ORDER BY slot`,
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
      changed: rows
        .filter(({ gone }) => gone === 0)
        .map((row) => entityOf(row, digests.get(nameOf(row)), sealed.get(nameOf(row)))),
      gone: rows.filter(({ gone }) => gone === 1).map(({ kind, id }) => ({ kind, id })),
    };
  }

  write(changes: readonly EntityChange[], by: Actor, now: number): Version {
    return this.#db.transaction(() => writeEntities(this.#tables(now), { changes, by, now, keys: this.#keys }));
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

  lastUses(keyIds: readonly string[]): KeyUse[] {
    return keyIds
      .flatMap(
        (id) =>
          this.#db.get<KeyUse>(
            'SELECT key_id AS keyId, last_used_at AS at, address FROM key_seen WHERE key_id = ?',
            id,
          ) ?? [],
      )
      .map((use) => ({ ...use }));
  }

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

  #version(): Version {
    return this.#db.get<{ value: number }>(`SELECT value FROM sequence WHERE name = 'version'`)!.value;
  }

  #tables(now: number): EntityTables {
    return {
      ...readTables(this.#db),
      ...savingTables(this.#db),
      version: () => this.#version(),
      addAudit: (event, by) => this.#audit.append(event, by, now),
    };
  }
}

type ReadTables = Pick<EntityTables, 'entity' | 'count' | 'digests' | 'digestOwner' | 'sealed'>;

const readTables = (db: Database): ReadTables => ({
  entity: ({ kind, id }) => {
    const row = db.get<EntityColumns>('SELECT * FROM entity WHERE kind = ? AND id = ?', kind, id);
    return (
      row && {
        kind,
        id,
        version: row.version,
        doc: row.doc,
        updatedBy: row.updated_by,
        updatedAt: row.updated_at,
        gone: row.gone === 1,
      }
    );
  },
  count: (kind: EntityKind) =>
    db.get<{ count: number }>('SELECT count(*) AS count FROM entity WHERE kind = ?', kind)!.count,
  digests: (kind, id) =>
    db.all<StoredDigest>(`SELECT * FROM ${SECRETS[kind]} WHERE key_id = ? ORDER BY slot`, id).map(digestOf),
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
      gone: gone ? 1 : 0,
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

/** The tables of digests. */
const SECRETS: Readonly<Record<DigestKind, string>> = { keys: 'key_secret', tokens: 'token_secret' };

/** The place of a value sealed with a key: a key whose value changed under the same name cannot open it. */
const CHECK: SealedPlace = { table: 'key_check', id: 'gatehouse', field: 'check', version: 1 };

const nameOf = ({ kind, id }: EntityRef): string => `${kind}/${id}`;

const digestOf = (row: StoredDigest): KeyDigest => ({
  slot: row.slot,
  digest: row.digest,
  last4: row.last4,
  validFrom: row.valid_from,
  validTo: row.valid_to ?? undefined,
});

const entityOf = (
  row: EntityColumns,
  digests: readonly StoredDigest[] = [],
  sealed: readonly { field: string }[] = [],
): Entity => ({
  kind: row.kind,
  id: row.id,
  version: row.version,
  doc: JSON.parse(row.doc) as EntityDoc,
  sealed: sealed.map(({ field }) => field),
  digests: digests.map(digestOf),
  updatedBy: row.updated_by,
  updatedAt: row.updated_at,
});
