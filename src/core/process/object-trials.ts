import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Snapshot } from '../compose/snapshot.ts';
import { loadSettings, type LoadResult, type Settings } from '../settings/read/load.ts';
import type { Diagnostic } from '../settings/source/diagnostic.ts';
import { sentFiles, withStoredObjects } from '../settings/source/files.ts';
import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import {
  isCompiled,
  nameOf,
  type ObjectReplica,
  type StoredChanges,
  type StoredObject,
  storedName,
} from '../settings/source/stored-objects.ts';
import type { Environment } from '../settings/values/references.ts';
import { isLeftOut } from './lost-entries.ts';
import type { InForce, ReloadResult } from './reload.ts';

/** An object as a call wants it to be. Undefined: it is to go. */
export interface Trial {
  readonly kind: StoredObject['kind'];
  readonly id: string;
  readonly object: StoredObject | undefined;
}

interface TrialSetup {
  readonly configs: string;
  readonly env: Environment;
  readonly objects: ObjectReplica;
  readonly inForce: () => InForce;
  readonly compile: (loaded: LoadResult, files: RecordedFiles) => Promise<Snapshot | undefined>;
  readonly reload: () => Promise<ReloadResult>;
}

/** The settings in force with an object, and the mistakes that it would cause. Files are named as in the folder. */
interface Checked {
  readonly settings: Settings | undefined;
  readonly mistakes: readonly Diagnostic[];
}

/** Puts an object of the state store into force in all processes before it is written, so that only what all of them accept is written. */
export class ObjectTrials {
  readonly #setup: TrialSetup;
  #last: Promise<unknown> = Promise.resolve();
  /** The objects that settings are compiled from, by name. */
  readonly #compiled: Map<string, StoredObject>;

  /** Another process may write such objects too: they are reloaded as they come. */
  constructor(setup: TrialSetup) {
    this.#setup = setup;
    this.#compiled = new Map([...setup.objects.now.objects].filter(([, { kind }]) => isCompiled(kind)));
    setup.objects.onChange((changes) => this.#isNews(changes) && void setup.reload());
  }

  /** An object that was tried is no news when the store has it, with a version. */
  #isNews({ changed, gone }: Omit<StoredChanges, 'known'>): boolean {
    let isNews = false;
    for (const one of changed.filter(({ kind }) => isCompiled(kind))) {
      const { value, problem } = this.#compiled.get(nameOf(one)) ?? {};
      isNews ||= problem !== one.problem || !isDeepStrictEqual(value, one.value);
      this.#compiled.set(nameOf(one), one);
    }
    for (const name of gone) isNews = this.#compiled.delete(name) || isNews;
    return isNews;
  }

  /** Compiles the settings in force with the object, and changes nothing. */
  async check({ kind, id, object }: Trial): Promise<Checked> {
    const { configs, env, objects, inForce, compile } = this.#setup;
    const { files } = inForce();
    const others = [...objects.now.objects].filter(([name]) => name !== nameOf({ kind, id }));
    const all = new Map(object ? [...others, [nameOf(object), object]] : others);
    const source = withStoredObjects(
      sentFiles(() => files.contents),
      () => ({ known: true, objects: all }),
    );
    const loaded = await loadSettings(configs, { env, files: source });
    const snapshot = loaded.settings && (await compile(loaded, files));
    await snapshot?.close();
    // An object that is not valid has no effect at a start, which is a warning.
    const own = object && (!loaded.settings || isLeftOut(loaded.settings, object)) ? storedName(object) : undefined;
    const named = loaded.diagnostics.map((one) => ({ ...one, file: relative(configs, one.file) }));
    return {
      settings: loaded.settings,
      mistakes: named.filter(({ file, severity }) => severity === 'error' || file === own),
    };
  }

  /**
   * Resolves with the reasons of a process that refuses the settings with the object: nothing was written then, and the settings before
   * serve. Rejects as `write` does, with the same effect. One trial follows the other.
   */
  run(trial: Trial, write: () => Promise<unknown>): Promise<readonly Diagnostic[]> {
    const run = this.#last.then(() => this.#run(trial, write));
    this.#last = run.catch(() => {});
    return run;
  }

  async #run(trial: Trial, write: () => Promise<unknown>): Promise<readonly Diagnostic[]> {
    const before = this.#setup.objects.now.objects.get(nameOf(trial));
    const refused = await this.#apply(trial);
    if (refused.length > 0) {
      await this.#takeBack(trial, before);
      return refused;
    }
    try {
      await write();
    } catch (error) {
      await this.#takeBack(trial, before);
      throw error;
    }
    return [];
  }

  /** Another gateway may have written the object meanwhile, which is why the store has refused this one: what it wrote stays. */
  async #takeBack(trial: Trial, before: StoredObject | undefined): Promise<void> {
    if (this.#setup.objects.now.objects.get(nameOf(trial)) !== trial.object) return;
    await this.#apply({ ...trial, object: before });
  }

  async #apply({ kind, id, object }: Trial): Promise<readonly Diagnostic[]> {
    const { objects, reload } = this.#setup;
    const changes = { changed: object ? [object] : [], gone: object ? [] : [nameOf({ kind, id })] };
    this.#isNews(changes);
    objects.apply({ known: objects.now.known, ...changes });
    const result = await reload();
    if (result.outcome === 'ignored') return [];
    const mistakes = result.outcome === 'refused' ? errorsOf(result.diagnostics) : (result.workers ?? []);
    return mistakes.map((one) => ({ ...one, file: relative(this.#setup.configs, one.file) }));
  }
}

const errorsOf = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity === 'error');
