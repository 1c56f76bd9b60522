import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import { aboutFile, describe, type Diagnostic } from '../settings/source/diagnostic.ts';
import type { SettingsFiles } from '../settings/source/files.ts';
import type { FileObject } from '../settings/read/file-objects.ts';
import type { LoadResult, Settings } from '../settings/read/load.ts';
import { fingerprint, loadSettled } from '../settings/read/load-settled.ts';
import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import type { Environment } from '../settings/values/references.ts';
import type { SettingsWatch } from '../settings/source/watch.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { LiveSnapshot } from '../compose/live-snapshot.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { lostEntries } from './lost-entries.ts';
import { moduleFiles, moduleVersions } from '../compose/plugin-modules.ts';
import { reportRestartOnly } from './restart-only.ts';
import type { Snapshot } from '../compose/snapshot.ts';
import { messageOf } from '../kernel/outside/thrown.ts';

export type ReloadResult =
  | {
      /** unchanged: the files have the settings that already serve. */
      readonly outcome: 'changed' | 'unchanged';
      /** Hash of the settings that serve now. */
      readonly hash: string;
      readonly warnings: readonly Diagnostic[];
      /** Changed, added and removed files. */
      readonly files: readonly string[];
      /** The mistakes that workers found, which still serve the settings before. */
      readonly workers?: readonly Diagnostic[];
    }
  | { readonly outcome: 'refused'; readonly hash: string; readonly diagnostics: readonly Diagnostic[] }
  /** The gateway is stopping. The current settings serve until it has stopped. */
  | { readonly outcome: 'ignored'; readonly hash: string };

/** The settings that serve, and their sources. */
export interface InForce {
  readonly settings: Settings;
  readonly warnings: readonly Diagnostic[];
  readonly files: RecordedFiles;
  /** The keys, teams and organizations of the files. */
  readonly objects: readonly FileObject[];
  /** Plugin modules and the versions of their files, read before the modules were loaded. */
  readonly modules: ReadonlyMap<string, string>;
}

/** How the last reload ended. */
export interface LastReload {
  readonly ok: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** When the settings in force took effect. */
  readonly inForceSince: number;
  /** The mistakes of a refused one. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface ReloadSetup {
  readonly configs: string;
  readonly env: Environment;
  readonly files: SettingsFiles;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly live: LiveSnapshot;
  /** Undefined in a worker: the primary watches, and logs the warnings for all. */
  readonly watch: SettingsWatch | undefined;
  readonly compile: (loaded: LoadResult, files: RecordedFiles) => Promise<Snapshot | undefined>;
  /** Called when files changed without changing the settings: lines may have moved. */
  readonly readAgain: (files: RecordedFiles) => void;
  /** Called when the snapshot has become current, for state outside of it. @param changed files, at most 50 */
  readonly onSwap: (snapshot: Snapshot, changed: readonly string[]) => void;
  /** Called after every reload. @param refused the first mistake of one that this process or a worker has refused */
  readonly onEnd?: ((refused: { readonly at: number; readonly text: string } | undefined) => void) | undefined;
  /** Called after every reload that was not refused. The next reload begins when it has ended. Must not reject. @returns the mistakes that workers found */
  readonly onInForce?: ((inForce: InForce) => Promise<readonly Diagnostic[]>) | undefined;
}

/** Lists in log lines are cut to this length. Their total is logged too. */
const MAX_LISTED = 50;

/** Reloads the settings, completely or not at all. */
export class Reloader {
  /** Reloads. Never rejects. A call during a reload gets the result of the next one. */
  readonly reload: () => Promise<ReloadResult> = oneAtATime(() => this.#run());
  readonly #setup: ReloadSetup;
  #inForce: InForce;
  #fingerprint: string;
  #last: LastReload;
  #stopped = false;

  constructor(setup: ReloadSetup, inForce: InForce) {
    this.#setup = setup;
    this.#inForce = inForce;
    this.#fingerprint = fingerprint(inForce.settings);
    const at = setup.clock.wall();
    this.#last = { ok: true, at, inForceSince: at, diagnostics: [] };
  }

  get last(): LastReload {
    return this.#last;
  }

  get inForce(): InForce {
    return this.#inForce;
  }

  /** Watches the current files if the settings enable it. */
  watch(): Promise<void> {
    return this.#follow(this.#inForce.files);
  }

  /** Stops reloads. A running reload has no effect either. */
  stop(): void {
    this.#stopped = true;
    this.#setup.watch?.stop();
  }

  get #hash(): string {
    return this.#inForce.settings.hash;
  }

  async #run(): Promise<ReloadResult> {
    if (this.#stopped) return { outcome: 'ignored', hash: this.#hash };
    try {
      const result = await this.#load();
      if (!('warnings' in result)) return result;
      const workers = (await this.#setup.onInForce?.(this.#inForce)) ?? [];
      if (workers.length === 0) return result;
      this.#setup.onEnd?.({ at: this.#last.at, text: describe(workers[0]!) });
      return { ...result, workers };
    } catch (err) {
      // Not an error in a file: something could not be opened, or the gateway has a fault.
      this.#setup.log.error({ err }, 'a reload of the settings failed');
      const message = `the settings could not be applied: ${messageOf(err)}`;
      return this.#refuse([aboutFile(this.#setup.configs, message)]);
    }
  }

  async #load(): Promise<ReloadResult> {
    const { configs, env, clock, files: source } = this.#setup;
    const pauseMs = this.#setup.live.current.server.reload.debounceMs;
    const from = { env, clock, pauseMs, files: source, before: this.#inForce.files };
    const { loaded, files } = await loadSettled(configs, from);
    try {
      return await this.#decide(loaded, files);
    } finally {
      // Also follows the files of a refused load: their next change may correct them.
      if (!this.#stopped) await this.#follow(files, loaded.settings);
    }
  }

  async #decide(loaded: LoadResult, files: RecordedFiles): Promise<ReloadResult> {
    const { settings } = loaded;
    if (!settings) return this.#refuse(loaded.diagnostics);
    const modules = moduleVersions(settings.server.plugins ?? [], this.#setup.configs);
    const same = fingerprint(settings) === this.#fingerprint && this.#changedModules(modules).length === 0;
    if (loaded.ok && same) return this.#keep(loaded, files);
    const lost = lostEntries(this.#inForce.settings, loaded);
    if (lost.length > 0) return this.#refuse([...loaded.diagnostics, ...lost]);
    reportRestartOnly(this.#inForce.settings.server, settings.server, loaded.reporter('server.yaml'));
    const snapshot = await this.#setup.compile(loaded, files);
    if (!snapshot) return this.#refuse(loaded.diagnostics);
    try {
      await snapshot.open();
    } catch (error) {
      await snapshot.close();
      // Problems with a place in the files are already reported there.
      if (loaded.ok) throw error;
      return this.#refuse(loaded.diagnostics);
    }
    if (!this.#stopped) {
      const read = { warnings: loaded.diagnostics, files, modules, objects: loaded.objects() };
      return this.#swap(snapshot, settings, read);
    }
    await snapshot.close();
    return { outcome: 'ignored', hash: this.#hash };
  }

  /** Synchronous to the end, so that no request sees a partial swap. */
  #swap(snapshot: Snapshot, settings: Settings, read: Omit<InForce, 'settings'>): ReloadResult {
    const { warnings, files, modules } = read;
    const changed = [...files.changesSince(this.#inForce.files), ...this.#changedModules(modules)];
    this.#inForce = { settings, ...read };
    this.#fingerprint = fingerprint(settings);
    this.#last = { ...this.#last, inForceSince: this.#setup.clock.wall() };
    this.#setup.live.swap(snapshot);
    this.#setup.onSwap(snapshot, changed.slice(0, MAX_LISTED));
    this.#succeeded();
    const { log } = this.#setup;
    log.info({ config_hash: settings.hash, files: changed.slice(0, MAX_LISTED) }, 'settings reloaded');
    if (warnings.length > 0 && this.#setup.watch)
      log.warn({ config_hash: settings.hash, ...listed(warnings) }, 'settings have warnings');
    return { outcome: 'changed', hash: settings.hash, warnings, files: changed };
  }

  #changedModules(modules: ReadonlyMap<string, string>): readonly string[] {
    const before = this.#inForce.modules;
    const paths = new Set([...before.keys(), ...modules.keys()]);
    return [...paths].filter((path) => before.get(path) !== modules.get(path));
  }

  /** Keeps the settings. Places of warnings may have moved, for example by a comment. */
  #keep(loaded: LoadResult, files: RecordedFiles): ReloadResult {
    const changed = files.changesSince(this.#inForce.files);
    const warnings = loaded.diagnostics;
    this.#inForce = { ...this.#inForce, warnings, files, objects: loaded.objects() };
    this.#setup.readAgain(files);
    this.#succeeded();
    this.#setup.log.info({ config_hash: this.#hash }, 'settings read again: unchanged');
    return { outcome: 'unchanged', hash: this.#hash, warnings, files: changed };
  }

  #succeeded(): void {
    this.#last = { ...this.#last, ok: true, at: this.#setup.clock.wall(), diagnostics: [] };
    const { hash, catalog } = this.#inForce.settings;
    const slugs = catalog.providers.map(({ slug }) => slug);
    this.#setup.metrics.settingsLoaded(hash, slugs);
    this.#setup.onEnd?.(undefined);
  }

  #refuse(diagnostics: readonly Diagnostic[]): ReloadResult {
    this.#last = { ...this.#last, ok: false, at: this.#setup.clock.wall(), diagnostics };
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const [first = this.#setup.configs, ...others] = errors.map(describe);
    this.#setup.metrics.settingsRefused();
    this.#setup.onEnd?.({ at: this.#last.at, text: first });
    this.#setup.log.error(
      { config_hash: this.#hash, ...listed(diagnostics) },
      `settings refused, the previous settings still serve: ${first}${others.length > 0 ? ` (and ${others.length} more)` : ''}`,
    );
    return { outcome: 'refused', hash: this.#hash, diagnostics };
  }

  async #follow(files: RecordedFiles, settings = this.#inForce.settings): Promise<void> {
    const { watch, live, log, configs } = this.#setup;
    const { watch: wanted, debounceMs } = live.current.server.reload;
    if (!watch) return;
    if (!wanted) return watch.stop();
    await watch
      .follow(files, debounceMs, moduleFiles(settings.server.plugins ?? [], configs))
      .catch((err: unknown) => log.error({ err }, 'the settings cannot be watched; SIGHUP reloads them'));
  }
}

const listed = (diagnostics: readonly Diagnostic[]): object => ({
  problems: diagnostics.length,
  diagnostics: diagnostics.slice(0, MAX_LISTED),
});
