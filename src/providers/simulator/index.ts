import type { SimulatorEntry as SimulatorSettings } from '../../../schemas/types.generated.ts';
import { readBase, type Base } from '../base-url.ts';
import { defineProvider, type OpenableEntry } from '../definition.ts';
import { checkModelName, unsupportedTask } from '../model-name.ts';
import { openAiEmbeddings } from '../openai/embeddings.ts';
import type { ModelCall, Location } from '../provider.ts';
import { inProcessUrl, openInProcess } from './in-process.ts';
import { CHAT_PATH, EMBEDDINGS_PATH } from './server.ts';

const PATHS: Readonly<Partial<Record<ModelCall['task'], string>>> = {
  generate: CHAT_PATH,
  embeddings: EMBEDDINGS_PATH,
};

const NOTHING = Object.freeze({});

class SimulatorEntry implements OpenableEntry {
  readonly slug: string;
  readonly provider = 'simulator';
  readonly semconvName = 'simulator';
  readonly allowInsecure: boolean;
  readonly #base: Base | undefined;

  /** @param base the base of a separate simulator; undefined for the one in this process */
  constructor(slug: string, allowInsecure: boolean, base: Base | undefined) {
    this.slug = slug;
    this.allowInsecure = allowInsecure;
    this.#base = base;
  }

  locate(model: string, { task }: ModelCall): Location {
    checkModelName(model);
    const path = PATHS[task];
    if (path === undefined) throw unsupportedTask(model, task);
    return {
      origin: this.#base?.origin ?? inProcessUrl(),
      path: `${this.#base?.prefix ?? ''}${path}`,
      format: 'openai-chat',
      model,
      host: 'direct',
      headers: NOTHING,
      ...(task === 'embeddings' && { codec: openAiEmbeddings }),
    };
  }

  authorize(): Readonly<Record<string, string>> {
    return NOTHING;
  }

  async open(): Promise<void> {
    if (!this.#base) await openInProcess();
  }
}

export const simulator = defineProvider<SimulatorSettings>({
  name: 'simulator',
  create(entry, { report }) {
    // The simulator in this process is plain http on loopback; for a separate one the operator must set allow_insecure.
    if (entry.base_url === undefined) return new SimulatorEntry(entry.slug, true, undefined);
    const base = readBase(entry, '', report);
    return base && new SimulatorEntry(entry.slug, entry.allow_insecure ?? false, base);
  },
});
