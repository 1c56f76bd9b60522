import type { Logger } from 'pino';
import type { Clock } from '../plugin/index.ts';
import { describe, type Diagnostic } from '../settings/problems/diagnostic.ts';
import { fingerprint } from '../settings/compile/fingerprint.ts';
import type { SettingsFiles } from '../settings/source/files.ts';
import type { LoadResult, Settings } from '../settings/read/load.ts';
import { loadSettled } from '../settings/source/load-settled.ts';
import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import type { Environment } from '../settings/read/resolve-references.ts';
import type { SettingsWatch } from '../settings/source/watch.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { LiveSnapshot } from '../compose/live-snapshot.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { moduleVersions } from '../compose/plugin-modules.ts';
import { reportRestartOnly } from './restart-only.ts';
import type { Snapshot } from '../compose/snapshot.ts';

export type ReloadResult =
  | {
      /** unchanged: the files say what serves already. */
      readonly outcome: 'changed' | 'unchanged';
      /** Of the settings that serve now. */
      readonly hash: string;
      readonly warnings: readonly Diagnostic[];
      /** Files whose content is another one now, new ones and those that are gone. */
      readonly files: readonly string[];
    }
  | { readonly outcome: 'refused'; readonly hash: string; readonly diagnostics: readonly Diagnostic[] }
  /** The gateway is being stopped: what serves stays until it has. */
  | { readonly outcome: 'ignored'; readonly hash: string };

/** The settings that serve and what they were read from. */
export interface InForce {
  readonly settings: Settings;
  readonly warnings: readonly Diagnostic[];
  readonly files: RecordedFiles;
  /** Plugin modules and the versions of their files, looked at before they were loaded. */
  readonly modules: ReadonlyMap<string, string>;
}

export interface ReloadSetup {
  readonly configs: string;
  readonly env: Environment;
  readonly files: SettingsFiles;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly live: LiveSnapshot;
  /** Without: nothing is watched, `reload` alone reads anew. */
  readonly watch: SettingsWatch | undefined;
  /** As at the start. */
  readonly compile: (loaded: LoadResult, files: RecordedFiles) => Promise<Snapshot | undefined>;
  /** The files were written anew and say the same: a line may have moved. */
  readonly readAgain: (files: RecordedFiles) => void;
  /** The snapshot has just become the current one: what is not part of it follows. */
  readonly onSwap: (snapshot: Snapshot) => void;
  /** After every reload that was not refused; the next one begins when this has ended. Must not reject. */
  readonly onInForce?: ((inForce: InForce) => Promise<void>) | undefined;
}

/** Lists in log lines are cut to this length; their count is told beside them. */
const MAX_LISTED = 50;

/** Reads the settings anew and puts them in force as a whole, or not at all. */
export class Reloader {
  /** Never rejects. Who asks while a reload runs gets the one after it. */
  readonly reload: () => Promise<ReloadResult> = oneAtATime(() => this.#run());
  readonly #setup: ReloadSetup;
  #inForce: InForce;
  #fingerprint: string;
  #stopped = false;

  constructor(setup: ReloadSetup, inForce: InForce) {
    this.#setup = setup;
    this.#inForce = inForce;
    this.#fingerprint = fingerprint(inForce.settings);
  }

  get inForce(): InForce {
    return this.#inForce;
  }

  /** Watches what serves, where the settings want that. */
  watch(): Promise<void> {
    return this.#follow(this.#inForce.files);
  }

  /** No reload takes effect any more, one that runs included. */
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
      if ('warnings' in result) await this.#setup.onInForce?.(this.#inForce);
      return result;
    } catch (err) {
      // Not a mistake in a file: something could not be opened, or the gateway itself has a fault.
      this.#setup.log.error({ err }, 'a reload of the settings failed');
      const message = `the settings could not be put in force: ${err instanceof Error ? err.message : String(err)}`;
      return this.#refuse([{ file: this.#setup.configs, line: 1, column: 1, severity: 'error', message }]);
    }
  }

  async #load(): Promise<ReloadResult> {
    const { configs, env, clock, files: source } = this.#setup;
    const pauseMs = this.#setup.live.current.server.reload.debounceMs;
    const { loaded, files } = await loadSettled(configs, {
      env,
      clock,
      pauseMs,
      files: source,
      before: this.#inForce.files,
    });
    try {
      return await this.#decide(loaded, files);
    } finally {
      // Those of a refused load too: it is their next change that may make it good.
      if (!this.#stopped) await this.#follow(files);
    }
  }

  async #decide(loaded: LoadResult, files: RecordedFiles): Promise<ReloadResult> {
    const { settings } = loaded;
    if (!settings) return this.#refuse(loaded.diagnostics);
    const modules = moduleVersions(settings.server.plugins ?? [], this.#setup.configs);
    const same = fingerprint(settings) === this.#fingerprint && this.#changedModules(modules).length === 0;
    if (loaded.ok && same) return this.#keep(loaded, files);
    reportRestartOnly(this.#inForce.settings.server, settings.server, loaded.reporter('server.yaml'));
    const snapshot = await this.#setup.compile(loaded, files);
    if (!snapshot) return this.#refuse(loaded.diagnostics);
    try {
      await snapshot.open();
    } catch (error) {
      await snapshot.close();
      // What can be told at its place in the files has been reported there.
      if (loaded.ok) throw error;
      return this.#refuse(loaded.diagnostics);
    }
    if (!this.#stopped) return this.#swap(snapshot, settings, { warnings: loaded.diagnostics, files, modules });
    await snapshot.close();
    return { outcome: 'ignored', hash: this.#hash };
  }

  /** From here to the end nothing waits: no request sees a half. */
  #swap(snapshot: Snapshot, settings: Settings, read: Omit<InForce, 'settings'>): ReloadResult {
    const { warnings, files, modules } = read;
    const changed = [...files.changesSince(this.#inForce.files), ...this.#changedModules(modules)];
    this.#inForce = { settings, ...read };
    this.#fingerprint = fingerprint(settings);
    this.#setup.live.swap(snapshot);
    this.#setup.onSwap(snapshot);
    this.#succeeded();
    const { log } = this.#setup;
    log.info({ config_hash: settings.hash, files: changed.slice(0, MAX_LISTED) }, 'settings reloaded');
    if (warnings.length > 0) log.warn({ config_hash: settings.hash, ...listed(warnings) }, 'settings have warnings');
    return { outcome: 'changed', hash: settings.hash, warnings, files: changed };
  }

  #changedModules(modules: ReadonlyMap<string, string>): readonly string[] {
    const before = this.#inForce.modules;
    const paths = new Set([...before.keys(), ...modules.keys()]);
    return [...paths].filter((path) => before.get(path) !== modules.get(path));
  }

  /** The places of warnings may have moved, with a comment for one. */
  #keep({ diagnostics: warnings }: LoadResult, files: RecordedFiles): ReloadResult {
    const changed = files.changesSince(this.#inForce.files);
    this.#inForce = { ...this.#inForce, warnings, files };
    this.#setup.readAgain(files);
    this.#succeeded();
    this.#setup.log.info({ config_hash: this.#hash }, 'settings read again: they say what serves already');
    return { outcome: 'unchanged', hash: this.#hash, warnings, files: changed };
  }

  #succeeded(): void {
    const { hash, catalog } = this.#inForce.settings;
    this.#setup.metrics.settingsLoaded(
      hash,
      catalog.providers.map(({ slug }) => slug),
    );
  }

  #refuse(diagnostics: readonly Diagnostic[]): ReloadResult {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const [first = this.#setup.configs, ...others] = errors.map(describe);
    this.#setup.metrics.settingsRefused();
    this.#setup.log.error(
      { config_hash: this.#hash, ...listed(diagnostics) },
      `settings refused, those before them still serve: ${first}${others.length > 0 ? ` (and ${others.length} more)` : ''}`,
    );
    return { outcome: 'refused', hash: this.#hash, diagnostics };
  }

  async #follow(files: RecordedFiles): Promise<void> {
    const { watch, live, log } = this.#setup;
    const { watch: wanted, debounceMs } = live.current.server.reload;
    if (!watch) return;
    if (!wanted) return watch.stop();
    await watch
      .follow(files, debounceMs)
      .catch((err: unknown) => log.error({ err }, 'the settings cannot be watched; SIGHUP reads them anew'));
  }
}

const listed = (diagnostics: readonly Diagnostic[]): object => ({
  problems: diagnostics.length,
  diagnostics: diagnostics.slice(0, MAX_LISTED),
});
