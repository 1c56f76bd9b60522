import type { SimulatorEntry as SimulatorSettings } from '../../../schemas/types.generated.ts';
import { readBase, type Base } from '../../core/providers/entry-settings.ts';
import { defineProvider, type OpenableEntry } from '../../core/providers/definition.ts';
import { checkModelName, unsupportedTask } from '../../core/providers/model-name.ts';
import { openAiEmbeddings } from '../../core/providers/openai/whole-replies.ts';
import type { ModelCall } from '../../core/providers/provider.ts';
import type { Simulator } from './server.ts';

const PATHS: Readonly<Partial<Record<ModelCall['task'], string>>> = {
  generate: '/v1/chat/completions',
  embeddings: '/v1/embeddings',
};

const NOTHING = Object.freeze({});

/** One for each behaviour that a newcomer may want; every other name is a model too. */
const LISTED = ['demo', 'sim-error-429', 'sim-error-midstream', 'sim-fast', 'sim-slow-1000'] as const;

// One per process, shared by all entries and snapshots: a reload must not break the streams that run on it.
let starting: Promise<Simulator> | undefined;
/** Before the simulator has started, the URL has port 0, which explain shows. */
let inProcessUrl = 'http://127.0.0.1:0';

async function openInProcess(): Promise<void> {
  // Most settings have no simulator: its code is loaded with the first entry.
  starting ??= import('./server.ts').then(({ startSimulator }) => startSimulator({ background: true }));
  try {
    inProcessUrl = (await starting).url;
  } catch (error) {
    starting = undefined;
    throw error;
  }
}

/** @param base the base of a separate simulator; undefined for the one in this process */
const createEntry = (slug: string, allowInsecure: boolean, base: Base | undefined): OpenableEntry => ({
  slug,
  provider: 'simulator',
  semconvName: 'simulator',
  allowInsecure,
  ownModels: LISTED,
  locate(model, { task }) {
    checkModelName(model);
    const path = PATHS[task];
    if (path === undefined) throw unsupportedTask(model, task);
    return {
      origin: base?.origin ?? inProcessUrl,
      path: `${base?.prefix ?? ''}${path}`,
      format: 'openai-chat',
      model,
      host: 'direct',
      customTools: true,
      headers: NOTHING,
      ...(task === 'embeddings' && { codec: openAiEmbeddings }),
    };
  },
  authorize: () => NOTHING,
  async open() {
    if (!base) await openInProcess();
  },
});

export const simulator = defineProvider<SimulatorSettings>({
  name: 'simulator',
  create(entry, { report }) {
    // The simulator in this process is plain http on loopback; for a separate one the operator must set allow_insecure.
    if (entry.base_url === undefined) return createEntry(entry.slug, true, undefined);
    const base = readBase(entry, '', report);
    return base && createEntry(entry.slug, entry.allow_insecure ?? false, base);
  },
});
