import type { Explanation } from '../explanation/explanation.ts';
import { sentFiles, type ReadPlaces, type SettingsFiles } from '../../settings/source/files.ts';
import { Explainer, type ExplainerSetup } from './explainer.ts';
import type { ExplainQuestion } from './question.ts';
import { SettingsRefused } from '../../settings/problems/refused.ts';

/** What a load has read. */
interface ReadFiles {
  readonly contents: ReadPlaces;
}

/**
 * Explains requests by one state of the settings, from the texts that were read for it, whatever the disk says by now. It lives as
 * long as somebody holds on to it: the snapshot of these settings, and requests that ran on them and are kept. Until it is first asked it has
 * compiled nothing, and once its settings are no more in force it keeps nothing compiled: of those there may be a hundred.
 */
export class SettingsExplainer {
  readonly #setup: Omit<ExplainerSetup, 'files'>;
  #files: SettingsFiles;
  #explainer: Explainer | undefined;
  #holders = 1;
  #retired = false;

  /** Held by who makes it, until its settings are no more in force. */
  constructor(setup: Omit<ExplainerSetup, 'files'>, files: ReadFiles) {
    this.#setup = setup;
    this.#files = filesOf(files);
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#letGo();
  }

  /** Its settings are no more in force, and who made it lets go of it. */
  retire(): void {
    this.#retired = true;
    this.#letGo();
    this.release();
  }

  /** The files were written anew and say the same: what they say may stand on other lines now. */
  readAgain(files: ReadFiles): void {
    this.#files = filesOf(files);
    this.#letGo();
  }

  /** Rejects with SettingsRefused and UnknownKey. */
  async explain(question: ExplainQuestion): Promise<Explanation> {
    this.hold();
    this.#explainer ??= new Explainer({ ...this.#setup, files: this.#files });
    try {
      return await this.#explainer.explain(question);
    } catch (error) {
      // The next one begins anew: what could not be compiled is remembered by an explainer.
      if (error instanceof SettingsRefused) this.#letGo();
      throw error;
    } finally {
      // What others are still asking it is answered before it ends.
      if (this.#retired) this.#letGo();
      this.release();
    }
  }

  #letGo(): void {
    // Plugins of its own may fail to end; nothing of a request hangs on them.
    void this.#explainer?.close().catch(() => {});
    this.#explainer = undefined;
  }
}

const filesOf = ({ contents }: ReadFiles): SettingsFiles => sentFiles(() => contents);
