import type { Explanation } from '../explanation/explanation.ts';
import {
  sentFiles,
  withStoredObjects,
  type ReadPlaces,
  type SettingsFiles,
} from '../../../core/settings/source/files.ts';
import type { StoredObjects } from '../../../core/settings/source/stored-objects.ts';
import type { Explainer, ExplainerSetup } from './explainer.ts';
import type { ExplainQuestion } from './question.ts';
import { editedFiles, openReferences } from '../../../core/settings/read/edited-files.ts';
import { SettingsRefused } from '../../../core/settings/source/diagnostic.ts';

interface SettingsExplainerSetup extends Omit<ExplainerSetup, 'files'> {
  /** The objects of the state store, as they are now: earlier ones are not kept. */
  readonly stored?: (() => StoredObjects | undefined) | undefined;
}

interface ReadFiles {
  readonly contents: ReadPlaces;
}

/**
 * Explains requests by one version of the settings, from the texts that were read for it. Reference-counted: its
 * snapshot and stored requests hold it. Once replaced it keeps nothing compiled: there may be a hundred versions.
 */
export class SettingsExplainer {
  readonly #setup: SettingsExplainerSetup;
  #read: ReadFiles;
  #explainer: Explainer | undefined;
  #stored: StoredObjects | undefined;
  #holders = 1;
  #retired = false;

  /** Its creator holds it until its settings are replaced. */
  constructor(setup: SettingsExplainerSetup, files: ReadFiles) {
    this.#setup = setup;
    this.#read = files;
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#discard();
  }

  /** Called when its settings are replaced; releases the creator's hold. */
  retire(): void {
    this.#retired = true;
    this.#discard();
    this.release();
  }

  /** The files were rewritten with the same content, but lines may have moved. */
  readAgain(files: ReadFiles): void {
    this.#read = files;
    this.#discard();
  }

  /** Rejects with SettingsRefused and UnknownKey. */
  async explain(question: ExplainQuestion): Promise<Explanation> {
    this.hold();
    try {
      // A serving process has this code once it has explained something.
      const { Explainer: Loaded } = await import('./explainer.ts');
      const stored = this.#setup.stored?.();
      if (stored !== this.#stored) this.#discard();
      this.#stored = stored;
      this.#explainer ??= new Loaded({ ...this.#setup, files: withStore(filesOf(this.#read), stored) });
      return await this.#explainer.explain(question);
    } catch (error) {
      // An explainer remembers a failed compilation; the next question needs a new one.
      if (error instanceof SettingsRefused) this.#discard();
      throw error;
    } finally {
      // `close` waits for concurrent questions.
      if (this.#retired) this.#discard();
      this.release();
    }
  }

  /** By other settings: some files have other texts. Rejects with SettingsRefused and UnknownKey. */
  async explainWith(question: ExplainQuestion, texts: Readonly<Record<string, string>>): Promise<Explanation> {
    const { configs } = this.#setup;
    const { env, contents } = await openReferences(configs, { env: this.#setup.env, contents: this.#read.contents });
    const { Explainer: Loaded } = await import('./explainer.ts');
    const files = editedFiles(configs, { contents, stored: this.#setup.stored?.() }, texts);
    // The plugins in use, so that no module is loaded; a variable or a file that is not known is a fake.
    const other = new Loaded({ ...this.#setup, files, env, fakeMissing: true });
    try {
      return await other.explain(question);
    } finally {
      void other.close().catch(() => {});
    }
  }

  #discard(): void {
    // Plugins of this explainer may fail to close; no request depends on them.
    void this.#explainer?.close().catch(() => {});
    this.#explainer = undefined;
  }
}

const withStore = (files: SettingsFiles, stored: StoredObjects | undefined): SettingsFiles =>
  stored ? withStoredObjects(files, () => stored) : files;

const filesOf = ({ contents }: ReadFiles): SettingsFiles => sentFiles(() => contents);
