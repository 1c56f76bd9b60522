import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock, Report } from '../../plugin/index.ts';
import type { StateSettings } from '../../settings/compile/server-settings.ts';
import { withStoredObjects, type StoredObjects } from '../../settings/read/stored-objects.ts';
import type { SettingsFiles } from '../../settings/source/files.ts';
import type { Entity, Version } from '../../state/entities.ts';
import { StateFailure, type StateFailureCode } from '../../state/failures.ts';
import { KeyEncryptionKeys } from '../../state/rules/sealing.ts';
import { SnapshotFiles } from '../../state/snapshot-files.ts';
import type { StateStore } from '../../state/store.ts';
import { openStore } from './open-store.ts';
import { storedObjectsOf } from './stored-keys.ts';

/** Time between two looks at the store. A look opens a store again that does not answer. */
const LOOK_MS = 5_000;
/** How often the snapshot on disk is written again, so that its age is the time since the store last answered. */
const REFRESH_MS = 60_000;
/** Failures that may pass by themselves. With any other the gateway does not start. */
const PASSING: ReadonlySet<StateFailureCode> = new Set(['unavailable', 'read_only', 'damaged']);

const NOTHING: StoredObjects = { complete: false, keys: [] };

export interface KeptStoreSetup {
  readonly settings: StateSettings;
  /** The folder of the settings. */
  readonly configs: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Injected by tests. Default: opens the store of the settings. */
  readonly open?: typeof openStore;
}

/**
 * The state store of a process, over the times in which it does not answer. Its objects are part of the settings: `files` shows them to
 * a load, and `onChange` is called when another load would see others.
 */
export class KeptStore {
  readonly #setup: KeptStoreSetup;
  readonly #snapshots: SnapshotFiles | undefined;
  #store: StateStore | undefined;
  #entities = new Map<string, Entity>();
  #version: Version = 0;
  /** When the store last answered, by its own content or by that of the snapshot; undefined: nothing is known of its objects. */
  #answeredAt: number | undefined;
  #writtenAt = -Infinity;
  /** The text of the last snapshot. */
  #written = '';
  #down: string | undefined;
  /** What loads see. */
  #text = JSON.stringify(NOTHING);
  /** The objects of the store as text, while they do not change. */
  #own: string | undefined;
  #changed = (): void => {};
  #stop = (): void => {};
  #closed = false;

  private constructor(setup: KeptStoreSetup) {
    this.#setup = setup;
    const { folder, keys, whenDown } = setup.settings;
    if (folder === undefined || whenDown.keys === 'refuse') return;
    const ring = keys ? KeyEncryptionKeys.parse(keys.reveal()) : KeyEncryptionKeys.none();
    this.#snapshots = snapshotsIn(join(folder, 'snapshots'), ring, setup.log);
  }

  /**
   * Opens the store, or begins with the snapshot on disk if the store does not answer. Problems that an operator has to solve are
   * reported at their place in server.yaml; undefined then.
   */
  static async open(setup: KeptStoreSetup, report: Report): Promise<KeptStore | undefined> {
    let kept: KeptStore | undefined;
    try {
      kept = new KeptStore(setup);
      await kept.#connect();
      if (kept.#reportForeign(report)) {
        await kept.close();
        return undefined;
      }
    } catch (error) {
      if (!(error instanceof StateFailure)) throw error;
      if (!kept || !PASSING.has(error.code)) {
        report({ path: ['state', error.code === 'sealed' ? 'encryption_keys' : 'store'], message: error.message });
        return undefined;
      }
      kept.#startWithout(error);
    }
    kept.#lookLater();
    return kept;
  }

  /** Undefined while it does not answer. */
  get store(): StateStore | undefined {
    return this.#down === undefined ? this.#store : undefined;
  }

  /**
   * All objects of the store, as of now, and the store's version. Rejects with `unavailable` while it does not answer. The map is this
   * object's own: it changes with the store.
   */
  async latest(): Promise<{ readonly version: Version; readonly entities: ReadonlyMap<string, Entity> }> {
    // A store that does not answer is opened again by the timer, once.
    if (this.store) await this.#look();
    if (!this.store) throw new StateFailure('unavailable', 'the state store does not answer');
    return { version: this.#version, entities: this.#entities };
  }

  /** The folder of the store; undefined: it is in memory. */
  get folder(): string | undefined {
    return this.#setup.settings.folder;
  }

  /** Kinds of objects that the store may hold. */
  get owns(): readonly string[] {
    return this.#setup.settings.owns;
  }

  /** Why the process is not ready. */
  reasons(): readonly string[] {
    return this.#answeredAt === undefined ? ['state store'] : [];
  }

  onChange(changed: () => void): void {
    this.#changed = changed;
  }

  /** Shows the store's objects beside the files. */
  files(files: SettingsFiles): SettingsFiles {
    return withStoredObjects(files, this.#setup.configs, () => this.#text);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stop();
    await this.#store?.close();
  }

  async #connect(): Promise<void> {
    await this.#store?.close();
    const { settings, clock, open = openStore } = this.#setup;
    const store = await open(settings, clock);
    if (this.#closed) return store.close();
    this.#store = store;
    // It may be another one: a backup that was restored has an earlier version.
    this.#entities.clear();
    this.#version = 0;
    this.#own = undefined;
    this.#store.entities.watch(() => void this.#look());
    await this.#load();
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

  async #load(): Promise<void> {
    const { version, changed, gone } = await this.#store!.entities.load(this.#version);
    for (const entity of changed) this.#entities.set(`${entity.kind}/${entity.id}`, entity);
    for (const { kind, id } of gone) this.#entities.delete(`${kind}/${id}`);
    this.#version = version;
    this.#answeredAt = this.#setup.clock.wall();
    // Most looks find nothing new, and thousands of keys take milliseconds to write.
    if (changed.length > 0 || gone.length > 0) this.#own = undefined;
    this.#own ??= JSON.stringify(storedObjectsOf([...this.#entities.values()]));
    this.#show(this.#own);
    this.#writeSnapshot();
  }

  #show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#changed();
  }

  #writeSnapshot(): void {
    const { clock, log } = this.#setup;
    const at = clock.wall();
    if (!this.#snapshots || (at - this.#writtenAt < REFRESH_MS && this.#written === this.#text)) return;
    try {
      this.#snapshots.write({ version: this.#version, at, text: this.#text });
      this.#writtenAt = at;
      this.#written = this.#text;
    } catch (err) {
      log.error({ err }, 'the snapshot of the state store could not be written');
    }
  }

  #startWithout(error: StateFailure): void {
    const { clock, log, settings } = this.#setup;
    const snapshot = this.#snapshots?.read(clock.wall() - settings.whenDown.maxAgeMs);
    this.#answeredAt = snapshot?.at;
    this.#text = snapshot?.text ?? this.#text;
    this.#down = error.message;
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

  /** Asks the store for changes, and opens it again if it does not answer. Never rejects. */
  async #look(): Promise<void> {
    const { log } = this.#setup;
    try {
      await (this.#down === undefined ? this.#load() : this.#connect());
      if (this.#down !== undefined) log.info('the state store answers again');
      this.#down = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (this.#down === undefined && !this.#closed) log.error({ reason }, 'the state store does not answer');
      this.#down = reason;
      this.#forgetOld();
    }
  }

  /** A revoked key must not stay valid for as long as the store is away. */
  #forgetOld(): void {
    const { clock, log, settings } = this.#setup;
    const maxAge = settings.whenDown.keys === 'refuse' ? 0 : settings.whenDown.maxAgeMs;
    if (this.#answeredAt === undefined || clock.wall() - this.#answeredAt <= maxAge) return;
    this.#answeredAt = undefined;
    log.error('the state store has not answered for too long; its keys are refused');
    this.#show(JSON.stringify(NOTHING));
  }
}

/** Kinds that no file can hold. */
const STORE_ONLY: ReadonlySet<string> = new Set(['admins', 'tokens', 'roles']);

/** A disk on which not even the folder can be made has no snapshot either. */
function snapshotsIn(folder: string, ring: KeyEncryptionKeys, log: KeptStoreSetup['log']): SnapshotFiles | undefined {
  try {
    return new SnapshotFiles(folder, ring.derive('snapshot'));
  } catch (err) {
    log.error({ err }, 'the folder of the snapshots of the state store cannot be used');
    return undefined;
  }
}
