import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { Report } from '../../../core/kernel/report.ts';
import {
  changesBetween,
  nameOf,
  type StoredObject,
  ObjectReplica,
} from '../../../core/settings/source/stored-objects.ts';
import { driverOf, type StoreDriver } from '../../../core/ports/store-driver.ts';
import type { StateSettings } from '../settings/state.ts';
import type { Entity, Version } from '../../../core/ports/entities.ts';
import { StateFailure, type StateFailureCode } from '../../../core/ports/failures.ts';
import { KeyEncryptionKeys } from '../store/rules/sealing.ts';
import { SnapshotFiles } from '../store/snapshot-files.ts';
import type { BudgetFamilies } from '../metrics.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { oneAtATime } from '../../../core/process/one-at-a-time.ts';
import { StoreSnapshots } from './store-snapshots.ts';
import { requireStore } from '../../../core/ports/store-handle.ts';
import { nextTurn, readEntities } from '../settings/read-stored.ts';
import { unsealProviders, withSecrets, type ProviderSecrets } from '../settings/unsealed.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';

/** Time between two looks at the store. A look opens a store that could not be opened yet. */
const LOOK_MS = 5_000;
/** Objects that are applied without a pause. */
const SLICE = 100;
/** Failures that may pass by themselves. With any other the gateway does not start. */
const PASSING: ReadonlySet<StateFailureCode> = new Set(['unavailable', 'read_only', 'damaged']);

interface ReconnectingStoreSetup {
  readonly settings: StateSettings;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly families?: BudgetFamilies | undefined;
  /** Injected by tests. Default: opens the store of the settings. */
  readonly open?: StoreDriver['open'] | undefined;
}

/** The state store of a process, over the times in which it does not answer. `objects` are those of its last answer. */
export class ReconnectingStore {
  readonly objects = new ObjectReplica(false);
  readonly #setup: ReconnectingStoreSetup;
  readonly #snapshots: StoreSnapshots | undefined;
  #store: StateStore | undefined;
  readonly #entities = new Map<string, Entity>();
  /** Of the entries of the catalog, for the snapshot. */
  readonly #secrets = new Map<string, ProviderSecrets>();
  #version: Version = 0;
  #written: Version = 0;
  /** When the store last answered, by its own content or by that of the snapshot; undefined: nothing is known of its objects. */
  #answeredAt: number | undefined;
  #down: string | undefined;
  #stop = (): void => {};
  #closed = false;
  /** Asks the store for changes, and opens it if it could not be opened yet. Never rejects. */
  readonly #look = oneAtATime(() => this.#lookNow());

  private constructor(setup: ReconnectingStoreSetup) {
    this.#setup = setup;
    const { dir, encryptionKeys, whenDown } = setup.settings;
    if (dir === undefined || whenDown.keys === 'refuse') return;
    const ring = KeyEncryptionKeys.parse(encryptionKeys?.reveal());
    const files = snapshotsIn(join(dir, 'snapshots'), ring, setup.log);
    this.#snapshots = files && new StoreSnapshots(files, ring, setup);
  }

  /** Opens the store, or begins with its snapshot. Undefined: a problem for the operator is reported at its place in server.yaml. */
  static async open(setup: ReconnectingStoreSetup, report: Report): Promise<ReconnectingStore | undefined> {
    let kept: ReconnectingStore | undefined;
    try {
      kept = new ReconnectingStore(setup);
      await kept.#connect();
      if (kept.#reportForeign(report)) {
        await kept.close();
        return undefined;
      }
    } catch (error) {
      if (!(error instanceof StateFailure)) throw error;
      if (!kept || !PASSING.has(error.code)) {
        report({ path: ['state', error.code === 'sealed' ? 'encryption_keys' : 'store'], message: error.message });
        await kept?.close();
        return undefined;
      }
      await kept.#startWithout(error);
    }
    kept.#report();
    kept.#lookLater();
    return kept;
  }

  /** Undefined while it does not answer. */
  get store(): StateStore | undefined {
    return this.#down === undefined ? this.#store : undefined;
  }

  /** All objects as of now; the map changes with the store. Rejects with `unavailable` while the store does not answer. */
  async latest(): Promise<{ readonly version: Version; readonly entities: ReadonlyMap<string, Entity> }> {
    // The timer asks a store that does not answer, once.
    if (this.store) await this.#look();
    requireStore(this);
    return { version: this.#version, entities: this.#entities };
  }

  get dir(): string | undefined {
    return this.#setup.settings.dir;
  }

  /** Kinds of objects that the store may hold. */
  get owns(): readonly string[] {
    return this.#setup.settings.owns;
  }

  reasons(): readonly string[] {
    return this.#answeredAt === undefined ? ['state store'] : [];
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stop();
    await this.#snapshots?.written();
    await this.#store?.close();
  }

  async #connect(): Promise<void> {
    const { settings, clock, open = driverOf(settings.store).open } = this.#setup;
    const store = await open(settings.store, { clock, keys: settings.encryptionKeys?.reveal() ?? '' });
    if (this.#closed) return store.close();
    this.#store = store;
    store.entities.watch((version) => {
      this.#written = version;
      this.#report();
      void this.#look();
    });
    await this.#load(true);
  }

  /** A kind that the store must not hold could have the same ids as the files. */
  #reportForeign(report: Report): boolean {
    const { owns } = this.#setup.settings;
    const foreign = [...this.#entities.values()].filter(({ kind }) => !owns.includes(kind) && !STORE_ONLY.has(kind));
    for (const [kind, found] of Map.groupBy(foreign, ({ kind }) => kind))
      report({
        path: ['state', 'owns'],
        message: `the store has ${found.length} ${kind}, such as "${found[0]!.id}", and \`owns\` does not list \`${kind}\``,
      });
    return foreign.length > 0;
  }

  /** @param whole the store may be another one than before: what it does not have is gone */
  async #load(whole = false): Promise<void> {
    const { version, changed, gone } = await this.#store!.entities.load(whole ? 0 : this.#version);
    if (whole) this.#snapshots?.checkVersion(version);
    const secrets = await unsealProviders(changed, this.#store!.entities);
    const objects = (await readEntities(changed)).map((object) => withSecrets(object, secrets));
    if (whole) this.#entities.clear();
    for (const entity of changed) this.#entities.set(nameOfEntity(entity), entity);
    for (const ref of gone) this.#entities.delete(nameOfEntity(ref));
    for (const [id, own] of secrets) this.#secrets.set(id, own);
    this.#version = version;
    this.#answeredAt = this.#setup.clock.wall();
    const now = new Map(objects.map((object) => [nameOf(object), object]));
    const absent = whole
      ? changesBetween(this.objects.now, { known: true, objects: now }).gone
      : gone.map(nameOfEntity).filter((name) => this.objects.now.objects.has(name));
    await this.#apply(objects, absent);
    this.#snapshots?.write(version, this.#entities, this.#secrets);
  }

  #report(): void {
    const { families } = this.#setup;
    families?.stateUp.set({}, this.store ? 1 : 0);
    families?.stateVersion.set({}, this.#version);
    families?.stateVersionLag.set({}, Math.max(0, this.#written - this.#version));
    if (this.#answeredAt !== undefined) families?.stateLastLoad.set({}, this.#answeredAt / 1000);
  }

  /** A write of a few objects is applied at once; tens of thousands are, in slices. What is gone comes first. */
  async #apply(changed: readonly StoredObject[], gone: readonly string[]): Promise<void> {
    for (let from = 0; from === 0 || from < changed.length; from += SLICE) {
      if (from > 0) await nextTurn();
      this.objects.apply({ known: true, changed: changed.slice(from, from + SLICE), gone: from === 0 ? gone : [] });
    }
  }

  async #startWithout(error: StateFailure): Promise<void> {
    const { log } = this.#setup;
    const snapshot = this.#snapshots?.read();
    this.#answeredAt = snapshot?.at;
    this.#down = error.message;
    const objects = snapshot && (await readEntities(snapshot.entities));
    if (objects)
      await this.#apply(
        objects.map((object) => withSecrets(object, snapshot.secrets)),
        [],
      );
    const from = snapshot ? { snapshot: new Date(snapshot.at).toISOString() } : {};
    log.error(
      { reason: error.message, ...from },
      `the state store does not answer; ${snapshot ? 'its last snapshot serves' : 'its keys are refused'}`,
    );
  }

  #lookLater(): void {
    if (this.#closed) return;
    this.#stop = this.#setup.clock.after(LOOK_MS, () => void this.#look().then(() => this.#lookLater()));
  }

  async #lookNow(): Promise<void> {
    const { log } = this.#setup;
    if (this.#closed) return;
    try {
      await (this.#store ? this.#load(this.#down !== undefined) : this.#connect());
      if (this.#down !== undefined) log.info('the state store answers again');
      this.#down = undefined;
    } catch (error) {
      const reason = messageOf(error);
      if (this.#down === undefined && !this.#closed) log.error({ reason }, 'the state store does not answer');
      this.#down = reason;
      this.#forgetOld();
    }
    this.#report();
  }

  /** A revoked key must not stay valid for as long as the store is away. */
  #forgetOld(): void {
    const { clock, log, settings } = this.#setup;
    const maxAge = settings.whenDown.keys === 'refuse' ? 0 : settings.whenDown.maxAgeMs;
    if (this.#answeredAt === undefined || clock.wall() - this.#answeredAt <= maxAge) return;
    this.#answeredAt = undefined;
    log.error('the state store has not answered for too long; its keys are refused');
    this.objects.apply({ known: false, changed: [], gone: [] });
  }
}

/** Kinds that no file can hold. */
const STORE_ONLY: ReadonlySet<string> = new Set(['admins', 'tokens', 'roles']);

const nameOfEntity = ({ kind, id }: Pick<Entity, 'kind' | 'id'>): string => `${kind}/${id}`;

/** A disk on which not even the folder can be made has no snapshot either. */
function snapshotsIn(
  folder: string,
  ring: KeyEncryptionKeys,
  log: ReconnectingStoreSetup['log'],
): SnapshotFiles | undefined {
  try {
    return new SnapshotFiles(folder, ring.derive('snapshot'));
  } catch (err) {
    log.error({ err }, 'the folder of the snapshots of the state store cannot be used');
    return undefined;
  }
}
