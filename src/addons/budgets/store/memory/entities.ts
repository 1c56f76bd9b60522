import type { Clock } from '../../../../plugin/index.ts';
import {
  hasDigests,
  type Actor,
  type EntityChange,
  type Entities,
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
import type { KeyEncryptionKeys } from '../rules/sealing.ts';
import type { MemoryAudit } from './audit.ts';
import { UndoLog } from './undo-log.ts';

const nameOf = ({ kind, id }: EntityRef): string => `${kind}/${id}`;

export class MemoryEntities implements Entities {
  readonly #clock: Clock;
  readonly #audit: MemoryAudit;
  readonly #keys: KeyEncryptionKeys;
  readonly #undo = new UndoLog();
  readonly #rows = new Map<string, EntityRow>();
  /** By kind and id, and the id by kind and digest. */
  readonly #digests = new Map<string, readonly KeyDigest[]>();
  readonly #owners = new Map<string, string>();
  readonly #sealed = new Map<string, ReadonlyMap<string, SealedField>>();
  readonly #uses = new Map<string, KeyUse>();
  readonly #counts = new Map<EntityKind, number>();
  readonly #watchers = new Set<(version: Version) => void>();
  #version: Version = 0;

  constructor(clock: Clock, audit: MemoryAudit, keys: KeyEncryptionKeys) {
    this.#clock = clock;
    this.#audit = audit;
    this.#keys = keys;
  }

  async load(since: Version): Promise<Loaded> {
    const rows = [...this.#rows.values()].filter(({ version }) => version > since);
    rows.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
    return {
      version: this.#version,
      changed: rows.filter(({ gone }) => !gone).map((row) => this.#entityOf(row)),
      gone: rows.filter(({ gone }) => gone).map(({ kind, id }) => ({ kind, id })),
    };
  }

  #entityOf(row: EntityRow): Entity {
    const { kind, id, version, doc, updatedBy, updatedAt } = row;
    return {
      kind,
      id,
      version,
      doc: JSON.parse(doc) as EntityDoc,
      sealed: [...(this.#sealed.get(nameOf(row))?.keys() ?? [])].sort(),
      digests: hasDigests(kind) ? (this.#digests.get(nameOf(row)) ?? []) : [],
      updatedBy,
      updatedAt,
    };
  }

  async write(changes: readonly EntityChange[], by: Actor): Promise<Version> {
    const write = { changes, by, now: this.#clock.wall(), keys: this.#keys };
    const version = this.#undo.run(() => writeEntities(this.#tables(), write));
    for (const watcher of this.#watchers) watcher(version);
    return version;
  }

  async unseal(ref: EntityRef, field: string): Promise<string> {
    const sealed = this.#sealed.get(nameOf(ref))?.get(field);
    if (!sealed) throw new StateFailure('not_found', `${nameOf(ref)} has no secret "${field}"`);
    return this.#keys.open(sealed.envelope, placeOf(ref, field, sealed.version));
  }

  watch(hint: (version: Version) => void): () => void {
    this.#watchers.add(hint);
    return () => void this.#watchers.delete(hint);
  }

  async seen(uses: readonly KeyUse[]): Promise<void> {
    checkKeyUses(uses);
    for (const use of uses)
      if (this.#rows.get(`keys/${use.keyId}`)?.gone === false && use.at > (this.#uses.get(use.keyId)?.at ?? -1))
        this.#uses.set(use.keyId, use);
  }

  async lastUses(keyIds: readonly string[]): Promise<readonly KeyUse[]> {
    return keyIds.flatMap((id) => this.#uses.get(id) ?? []);
  }

  #tables(): EntityTables {
    const undo = this.#undo;
    return {
      version: () => this.#version,
      entity: (ref) => this.#rows.get(nameOf(ref)),
      count: (kind) => this.#counts.get(kind) ?? 0,
      digests: (kind, id) => this.#digests.get(nameOf({ kind, id })) ?? [],
      digestOwner: (kind, digest) => this.#owners.get(`${kind} ${digest}`),
      sealed: (ref) => [...(this.#sealed.get(nameOf(ref))?.values() ?? [])],
      saveVersion: (version) => void (this.#version = version),
      saveEntity: (row) => {
        if (!this.#rows.has(nameOf(row))) undo.set(this.#counts, row.kind, (this.#counts.get(row.kind) ?? 0) + 1);
        undo.set(this.#rows, nameOf(row), row);
      },
      saveDigests: (kind, id, digests) => {
        const name = nameOf({ kind, id });
        for (const { digest } of this.#digests.get(name) ?? []) undo.delete(this.#owners, `${kind} ${digest}`);
        undo.set(
          this.#digests,
          name,
          digests.toSorted((one, other) => one.slot - other.slot),
        );
        for (const { digest } of digests) undo.set(this.#owners, `${kind} ${digest}`, id);
      },
      saveSealed: (ref, field, sealed) => {
        const fields = new Map(this.#sealed.get(nameOf(ref)));
        if (sealed) fields.set(field, sealed);
        else fields.delete(field);
        undo.set(this.#sealed, nameOf(ref), fields);
      },
      addAudit: (event, by) => undo.onFailure(this.#audit.append(event, by)),
    };
  }
}
