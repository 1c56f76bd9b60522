import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { Report } from '../../../core/kernel/report.ts';
import {
  changesBetween,
  isCompiled,
  nameOf,
  type StoredObject,
  ObjectReplica,
} from '../../../core/settings/source/stored-objects.ts';
import { driverOf, type StoreDriver } from '../../../core/ports/store-driver.ts';
import type { StateSettings } from '../settings/state.ts';
import type { Entity, Loaded, Version } from '../../../core/ports/entities.ts';
import { StateFailure, type StateFailureCode } from '../../../core/ports/failures.ts';
import { KeyEncryptionKeys } from '../store/rules/sealing.ts';
import { SnapshotFiles } from '../store/snapshot-files.ts';
import type { BudgetFamilies } from '../metrics.ts';
import type { RolledBack, StateStore } from '../../../core/ports/store.ts';
import { oneAtATime } from '../../../core/process/one-at-a-time.ts';
import { StoreSnapshots } from './store-snapshots.ts';
import { StoreHistory } from './store-history.ts';
import { requireStore } from '../../../core/ports/store-handle.ts';
import { nextTurn, readEntities } from '../settings/read-stored.ts';
import { unsealProviders, withSecrets, type ProviderSecrets } from '../settings/unsealed.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';

/** Time between two looks at the store. A look opens a store that could not be opened yet. */
const LOOK_MS = 5_000;
/** The same for a store that other gateways write to: their writes may come without a hint. Between 0.8 and 1.2 times that. */
const SHARED_LOOK_MS = 1_000;
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
  readonly random?: () => number;
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
  readonly #history: StoreHistory;
  #version: Version = 0;
  /** The store's time of the last load that is not behind what was seen. */
  #trustedAt = 0;
  #rolledBack: RolledBack | undefined;
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
    this.#snapshots = snapshotsOf(setup);
    this.#history = new StoreHistory(this.#snapshots?.seen());
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

  get version(): Version {
    return this.#version;
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

  get owns(): readonly string[] {
    return this.#setup.settings.owns;
  }

  /** The store is behind what this gateway has seen of it. Undefined: it is not. */
  get rolledBack(): RolledBack | undefined {
    return this.#rolledBack;
  }

  readonly reasons = (): readonly string[] => (this.#answeredAt === undefined ? ['state store'] : []);

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

  /** @param isNew the store may be another one than before */
  async #load(isNew = false): Promise<void> {
    const { entities } = this.#store!;
    let loaded = await entities.load(isNew ? 0 : this.#version);
    const isBehind = this.#history.isBehind(loaded);
    // Objects that such a store does not have are gone.
    const isWhole = isNew || isBehind || this.#rolledBack !== undefined || !this.#history.isSame(loaded.epoch);
    if (isWhole && !isNew) loaded = await entities.load(0);
    if (isBehind) return this.#holdBack(loaded);
    if (isWhole) this.#entities.clear();
    const before = this.objects.now;
    const objects = await this.#take(loaded);
    const now = new Map(objects.map((object) => [nameOf(object), object]));
    const absent = isWhole
      ? changesBetween(before, { known: true, objects: now }).gone
      : loaded.gone.map(nameOfEntity).filter((name) => before.objects.has(name));
    await this.#apply(objects, absent);
    this.#trustedAt = loaded.at;
    this.#history.saw(loaded);
    await this.#endHolding(loaded.version);
    this.#snapshots?.write(loaded, this.#entities, this.#secrets);
  }

  async #take({ version, changed, gone }: Pick<Loaded, 'version' | 'changed' | 'gone'>): Promise<StoredObject[]> {
    const secrets = await unsealProviders(changed, this.#store!.entities);
    const objects = (await readEntities(changed)).map((object) => withSecrets(object, secrets));
    for (const entity of changed) this.#entities.set(nameOfEntity(entity), entity);
    for (const ref of gone) this.#entities.delete(nameOfEntity(ref));
    for (const [id, own] of secrets) this.#secrets.set(id, own);
    this.#version = version;
    this.#answeredAt = this.#setup.clock.wall();
    return objects;
  }

  /**
   * The store is behind what this gateway has seen. What the gateway knows as revoked stays revoked: of the store count the writes since
   * the last trusted load, and what is deleted. Throws where the gateway is the only one that writes: no other process has written since.
   */
  async #holdBack(loaded: Loaded): Promise<void> {
    const failure = this.#history.failureOf(loaded);
    if (!this.#rolledBack) this.#setup.log.error({ reason: failure.message }, 'the state store went back');
    this.#rolledBack ??= { found: loaded.version, seen: this.#history.version, reason: failure.message };
    if (driverOf(this.#setup.settings.store).use !== 'shared') throw failure;
    // Its versions may pass those that were seen: with another epoch all gateways know, also those that start later.
    if (loaded.epoch.accepted)
      await this.#store!.entities.begin(
        { accepted: false, reason: failure.message },
        { id: 'gateway', role: 'system' },
      );
    if (this.#answeredAt === undefined) await this.#useSnapshot();
    const changed = loaded.changed.filter(({ updatedAt }) => updatedAt > this.#trustedAt);
    const objects = await this.#take({ ...loaded, changed });
    await this.#apply(
      objects,
      loaded.gone.map(nameOfEntity).filter((name) => this.objects.now.objects.has(name)),
    );
  }

  async #endHolding(version: Version): Promise<void> {
    if (!this.#rolledBack) return;
    this.#rolledBack = undefined;
    await this.#snapshots?.forgetAfter(version);
    this.#setup.log.warn({ version }, 'an operator has accepted that the state store went back');
  }

  #report(): void {
    const { families } = this.#setup;
    families?.stateUp.set({}, this.store ? 1 : 0);
    families?.stateVersion.set({}, this.#version);
    families?.stateVersionLag.set({}, Math.max(0, this.#written - this.#version));
    if (this.#answeredAt !== undefined) families?.stateLastLoad.set({}, this.#answeredAt / 1000);
  }

  /**
   * A write of a few objects is applied at once; tens of thousands are, in slices. What is gone comes first, with what
   * settings are compiled from: the reload that they cause must see all of them.
   */
  async #apply(changed: readonly StoredObject[], gone: readonly string[]): Promise<void> {
    const { entries = [], others = [] } = Object.groupBy(changed, ({ kind }) =>
      isCompiled(kind) ? 'entries' : 'others',
    );
    this.objects.apply({ known: true, changed: [...entries, ...others.slice(0, SLICE)], gone });
    for (let from = SLICE; from < others.length; from += SLICE) {
      await nextTurn();
      this.objects.apply({ known: true, changed: others.slice(from, from + SLICE), gone: [] });
    }
  }

  async #startWithout(error: StateFailure): Promise<void> {
    this.#down = error.message;
    const at = await this.#useSnapshot();
    this.#setup.log.error(
      { reason: error.message, ...(at === undefined ? {} : { snapshot: new Date(at).toISOString() }) },
      `the state store does not answer; ${at === undefined ? 'its keys are refused' : 'its last snapshot serves'}`,
    );
  }

  /** Returns its time; undefined: there is none. */
  async #useSnapshot(): Promise<number | undefined> {
    const snapshot = this.#snapshots?.read();
    if (!snapshot) return undefined;
    this.#answeredAt = snapshot.at;
    this.#trustedAt = snapshot.at;
    for (const entity of snapshot.entities) this.#entities.set(nameOfEntity(entity), entity);
    for (const [id, own] of snapshot.secrets) this.#secrets.set(id, own);
    const objects = (await readEntities(snapshot.entities)).map((object) => withSecrets(object, snapshot.secrets));
    await this.#apply(objects, []);
    return snapshot.at;
  }

  #lookLater(): void {
    if (this.#closed) return;
    const { clock, settings, random = Math.random } = this.#setup;
    this.#stop = clock.after(
      driverOf(settings.store).use === 'shared' ? SHARED_LOOK_MS * (0.8 + 0.4 * random()) : LOOK_MS,
      () => void this.#look().then(() => this.#lookLater()),
    );
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
function snapshotsOf(setup: ReconnectingStoreSetup): StoreSnapshots | undefined {
  const { dir, encryptionKeys, whenDown } = setup.settings;
  if (dir === undefined || whenDown.keys === 'refuse') return undefined;
  const ring = KeyEncryptionKeys.parse(encryptionKeys?.reveal());
  try {
    return new StoreSnapshots(new SnapshotFiles(join(dir, 'snapshots'), ring.derive('snapshot')), ring, setup);
  } catch (err) {
    setup.log.error({ err }, 'the folder of the snapshots of the state store cannot be used');
    return undefined;
  }
}
