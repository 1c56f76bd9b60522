import { randomBytes } from 'node:crypto';
import type { AuditRow } from '../../../core/ports/audit.ts';
import type {
  Actor,
  DigestKind,
  Entities,
  Entity,
  EntityDoc,
  EntityKind,
  EntityRef,
  Epoch,
  KeyDigest,
  KeyUse,
  Loaded,
  Version,
} from '../../../core/ports/entities.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import type { EntityRow, EntityTables, LastRow, SealedField, SealedPlace } from '../../../core/ports/store-rules.ts';
import type { Transaction } from '../connect/connections.ts';
import { appendAudit } from './audit.ts';
import type { StoreTools } from '../connect/store-tools.ts';
import type { Versions } from './versions.ts';

type StoredDigest = EntityRef & Omit<KeyDigest, 'validTo'> & { readonly validTo: number | null };
type StoredSecret = EntityRef & SealedField;

interface LoadedEntities {
  readonly now: number;
  readonly version: Version;
  readonly last: LastRow | null;
  readonly entities: readonly EntityRow[];
  readonly counts: Readonly<Partial<Record<EntityKind, number>>>;
  readonly digests: readonly StoredDigest[];
  readonly sealed: readonly StoredSecret[];
}

const DIGESTS = `(SELECT json_agg(json_build_object('slot', d.slot, 'digest', d.digest, 'last4', d.last4, 'validFrom', d.valid_from,
  'validTo', d.valid_to) ORDER BY d.slot) FROM secret_digest d WHERE d.kind = e.kind AND d.id = e.id)`;
const FIELDS = '(SELECT json_agg(x.field ORDER BY x.field) FROM sealed x WHERE x.kind = e.kind AND x.id = e.id)';

const EPOCH = `(SELECT json_build_object('id', id, 'at', at, 'accepted', accepted) FROM epoch ORDER BY at DESC LIMIT 1)`;

interface ReadRow extends EntityRow {
  readonly now: Version;
  readonly at: number;
  readonly epoch: Epoch;
  readonly isReadOnly: boolean;
  readonly digests: readonly Omit<StoredDigest, 'kind'>[] | null;
  readonly fields: readonly string[] | null;
}

export function entitiesOf(tools: StoreTools, versions: Versions): Entities {
  const { connections, rules, ring } = tools;
  return {
    load: (since) => loadAfter(tools, since),
    async write(changes, by) {
      const digests = changes.flatMap((change) =>
        change.op === 'put' ? (change.digests ?? []).map(({ digest }) => ({ kind: change.kind, digest })) : [],
      );
      const refs = changes.map(({ kind, id }) => ({ kind, id }));
      const version = await connections.exchange<LoadedEntities, Version>(
        ['entity_load', { refs, digests, ...tools.now() }, 'entity_save'],
        (loaded) => {
          const rows = new EntityRows(loaded, tools);
          return [rules.writeEntities(rows, { changes, by, now: loaded.now, keys: ring }), rows.changed];
        },
      );
      versions.hint(version);
      return version;
    },
    begin: (wish, by) => beginEpoch(tools, wish, by),
    async unseal({ kind, id }, field) {
      const [found] = await connections.one<SealedField>(
        `SELECT field, version, envelope FROM sealed WHERE kind = ${connections.literal(kind)} AND id = ${connections.literal(id)}
         AND field = ${connections.literal(field)}`,
      );
      if (!found) throw new StateFailure('not_found', `${kind}/${id} has no secret "${field}"`);
      return ring.open(found.envelope, rules.placeOf({ kind, id }, field, found.version));
    },
    watch: (hint) => versions.watch(hint),
    async seen(uses) {
      rules.checks.checkKeyUses(uses);
      await connections.call('keys_seen', uses);
    },
    async lastUses(keyIds) {
      const ids = connections.literal(JSON.stringify(keyIds));
      const found = await connections.one<KeyUse>(
        `SELECT key_id AS "keyId", last_used_at AS at, address FROM key_seen
         WHERE key_id IN (SELECT jsonb_array_elements_text(${ids}))`,
      );
      const byId = new Map(found.map((use) => [use.keyId, use]));
      return keyIds.flatMap((id) => byId.get(id) ?? []);
    },
  };
}

/** One statement: all rows are of one moment. */
async function loadAfter({ connections, now }: StoreTools, since: Version): Promise<Loaded> {
  const rows = await connections.one<ReadRow>(
    `SELECT s.value AS now, ${now().now ?? 'store_now()'} AS at, ${EPOCH} AS epoch, current_setting('transaction_read_only')::boolean AS "isReadOnly", e.kind, e.id, e.version, e.doc,
       e.updated_by AS "updatedBy", e.updated_at AS "updatedAt", e.gone, ${DIGESTS} AS digests, ${FIELDS} AS fields
     FROM sequence s LEFT JOIN entity e ON e.version > ${since} WHERE s.name = 'version' ORDER BY e.kind, e.id`,
  );
  const [first] = rows;
  // A standby that lags behind knows no key that was just revoked.
  if (!first || first.isReadOnly) throw new StateFailure('unavailable', 'the server of the state store is read-only');
  const found = first.kind === null ? [] : rows;
  return {
    version: first.now,
    epoch: first.epoch,
    at: first.at,
    changed: found.filter(({ gone }) => gone === 0).map(entityOf),
    gone: found.filter(({ gone }) => gone === 1).map(({ kind, id }) => ({ kind, id })),
  };
}

async function beginEpoch(
  tools: StoreTools,
  { accepted, reason }: { readonly accepted: boolean; readonly reason: string },
  by: Actor,
): Promise<Epoch> {
  const { connections, rules } = tools;
  rules.checks.checkActor(by);
  return connections.transaction(async (tx) => {
    await tx.query(`SELECT value FROM sequence WHERE name = 'version' FOR UPDATE`);
    const [row] = await tx.query<{ before: Epoch; now: number }>(`SELECT ${EPOCH} AS before, store_now() AS now`);
    const { before } = row!;
    const at = Math.max(tools.now().now ?? row!.now, before.at + 1);
    const epoch = { id: randomBytes(16).toString('hex'), at, accepted };
    await tx.query('DELETE FROM epoch');
    await tx.query('INSERT INTO epoch (id, at, accepted) VALUES ($1, $2, $3)', epoch.id, at, accepted);
    await appendAudit(tx, tools, rules.epochEvent(before, epoch, reason), by);
    return epoch;
  });
}

const entityOf = ({ kind, id, version, doc, updatedBy, updatedAt, digests, fields }: ReadRow): Entity => ({
  kind,
  id,
  version,
  doc: JSON.parse(doc) as EntityDoc,
  sealed: fields ?? [],
  digests: (digests ?? []).map(digestOf),
  updatedBy,
  updatedAt,
});

const digestOf = ({ slot, digest, last4, validFrom, validTo }: Omit<StoredDigest, 'kind' | 'id'>): KeyDigest => ({
  slot,
  digest,
  last4,
  validFrom,
  validTo: validTo ?? undefined,
});

const nameOf = ({ kind, id }: EntityRef): string => `${kind}/${id}`;

class EntityRows implements EntityTables {
  readonly #loaded: LoadedEntities;
  readonly #tools: StoreTools;
  readonly #entities: Map<string, EntityRow>;
  readonly #digests: Map<string, readonly KeyDigest[]>;
  readonly #owners: Map<string, string>;
  readonly #sealed: Map<string, ReadonlyMap<string, SealedField>>;
  readonly #saved = new Map<string, EntityRow>();
  readonly #digestsOf = new Map<string, EntityRef>();
  readonly #sealedOf = new Map<string, EntityRef>();
  readonly #audit: AuditRow[] = [];
  #version: Version;

  constructor(loaded: LoadedEntities, tools: StoreTools) {
    this.#loaded = loaded;
    this.#tools = tools;
    this.#version = loaded.version;
    this.#entities = new Map(loaded.entities.map((row) => [nameOf(row), row]));
    this.#digests = new Map(
      [...Map.groupBy(loaded.digests, nameOf)].map(([name, found]) => [name, found.map(digestOf)]),
    );
    this.#owners = new Map(loaded.digests.map(({ kind, id, digest }) => [`${kind} ${digest}`, id]));
    this.#sealed = new Map(
      [...Map.groupBy(loaded.sealed, nameOf)].map(([name, found]) => [
        name,
        new Map(found.map(({ field, version, envelope }) => [field, { field, version, envelope }])),
      ]),
    );
  }

  get changed(): object {
    const digestsOf = [...this.#digestsOf.values()];
    const sealedOf = [...this.#sealedOf.values()];
    return {
      version: this.#version,
      entities: [...this.#saved.values()],
      digestsOf,
      digests: digestsOf.flatMap((ref) => (this.#digests.get(nameOf(ref)) ?? []).map((one) => ({ ...ref, ...one }))),
      sealedOf,
      sealed: sealedOf.flatMap((ref) => this.sealed(ref).map((one) => ({ ...ref, ...one }))),
      audit: this.#audit,
    };
  }

  readonly version = (): Version => this.#version;
  readonly entity = (ref: EntityRef): EntityRow | undefined => this.#entities.get(nameOf(ref));
  readonly count = (kind: EntityKind): number => this.#loaded.counts[kind] ?? 0;
  readonly digests = (kind: DigestKind, id: string): readonly KeyDigest[] =>
    this.#digests.get(nameOf({ kind, id })) ?? [];
  readonly digestOwner = (kind: DigestKind, digest: string): string | undefined =>
    this.#owners.get(`${kind} ${digest}`);

  sealed(ref: EntityRef): readonly SealedField[] {
    const fields = [...(this.#sealed.get(nameOf(ref))?.values() ?? [])];
    return fields.toSorted((one, other) => (one.field < other.field ? -1 : 1));
  }

  saveVersion(version: Version): void {
    this.#version = version;
  }

  saveEntity(row: EntityRow): void {
    this.#entities.set(nameOf(row), row);
    this.#saved.set(nameOf(row), row);
  }

  saveDigests(kind: DigestKind, id: string, digests: readonly KeyDigest[]): void {
    for (const { digest } of this.digests(kind, id)) this.#owners.delete(`${kind} ${digest}`);
    for (const { digest } of digests) this.#owners.set(`${kind} ${digest}`, id);
    this.#digests.set(nameOf({ kind, id }), digests);
    this.#digestsOf.set(nameOf({ kind, id }), { kind, id });
  }

  saveSealed({ kind, id }: EntityRef, field: string, sealed: SealedField | undefined): void {
    const fields = new Map(this.#sealed.get(nameOf({ kind, id })));
    if (sealed) fields.set(field, sealed);
    else fields.delete(field);
    this.#sealed.set(nameOf({ kind, id }), fields);
    this.#sealedOf.set(nameOf({ kind, id }), { kind, id });
  }

  addAudit(...[event, by]: Parameters<EntityTables['addAudit']>): void {
    const last = this.#audit.at(-1) ?? this.#loaded.last ?? undefined;
    this.#audit.push(this.#tools.chain.next(event, by, last, this.#loaded.now));
  }
}

/** The place of a value sealed with a key: a key whose value changed under the same name cannot open it. */
const CHECK: SealedPlace = { table: 'key_check', id: 'gatehouse', field: 'check', version: 1 };

/**
 * Runs at the start. Refuses a key whose value changed under the same name, and a ring that lacks the key of a stored secret. Then seals
 * the data keys of all secrets with the first key, and announces it in the audit, so that the others can be removed.
 */
export async function useKeys(tools: StoreTools): Promise<void> {
  const { reads, ring } = tools;
  await reads.transaction(async (tx) => {
    await tx.query(`SELECT value FROM sequence WHERE name = 'version' FOR UPDATE`);
    for (const { envelope } of await tx.query<{ envelope: string }>('SELECT envelope FROM key_check'))
      ring.open(envelope, CHECK);
    const [first] = ring.names;
    if (first === undefined) return;
    await announce(tx, tools);
    await tx.query('DELETE FROM key_check WHERE kid <> $1', first);
    const envelope = ring.seal(CHECK.id, CHECK);
    await tx.query('INSERT INTO key_check (kid, envelope) VALUES ($1, $2) ON CONFLICT DO NOTHING', first, envelope);
    await rewrapAll(tx, tools);
  });
}

async function announce(tx: Transaction, { chain, now }: StoreTools): Promise<void> {
  const [row] = await tx.query<{ last: LastRow | null; now: number }>(
    'SELECT audit_last() AS last, store_now() AS now',
  );
  const announcement = chain.announcement(row?.last ?? undefined, now().now ?? row!.now);
  if (announcement) await tx.query('SELECT audit_add($1)', JSON.stringify([announcement]));
}

async function rewrapAll(tx: Transaction, { ring, rules }: StoreTools): Promise<void> {
  const stored = await tx.query<StoredSecret>('SELECT kind, id, field, version, envelope FROM sealed');
  for (const { kind, id, field, version, envelope } of stored) {
    const wrapped = ring.rewrap(envelope, rules.placeOf({ kind, id }, field, version));
    if (wrapped !== undefined)
      await tx.query(
        'UPDATE sealed SET envelope = $4 WHERE kind = $1 AND id = $2 AND field = $3',
        kind,
        id,
        field,
        wrapped,
      );
  }
}
