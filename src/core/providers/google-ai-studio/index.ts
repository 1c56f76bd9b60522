import type { GoogleAiStudioEntry } from '../../../../schemas/types.generated.ts';
import type { ModelTask } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import { MODEL_TASKS } from '../../operations/tasks.ts';
import { unlessRefused } from '../../kernel/errors.ts';
import { readApiKey, readBase, type Base } from '../entry-settings.ts';
import { defineProvider, type OpenableEntry } from '../definition.ts';
import { checkModelName, modelSegment } from '../model-name.ts';
import type { Location, ModelCall } from '../provider.ts';
import { readEmbeddingSettings, taskEndpoint } from '../vertex-ai/task-models.ts';
import { batchEmbeddings, singleEmbedding } from './embeddings.ts';

type Version = NonNullable<GoogleAiStudioEntry['api_version']>;
type StudioEndpoint = Pick<Location, 'path' | 'codec'>;

const NO_HEADERS = Object.freeze({});
const EMBEDDING = /embed/;

/** Path below the version (docs/protocols/gemini.md#paths). Throws GatewayError `unsupported_task`. */
function endpointOf(model: string, { task, stream, form }: ModelCall): StudioEndpoint {
  const under = (method: string) => `models/${modelSegment(model)}${method}`;
  switch (task) {
    case 'generate':
      return { path: under(stream ? ':streamGenerateContent?alt=sse' : ':generateContent') };
    case 'count_tokens':
      return { path: under(':countTokens') };
    case 'embeddings':
      if (!EMBEDDING.test(model)) return taskEndpoint({ task, model }, under, readEmbeddingSettings());
      return form === 'embedContent'
        ? { path: under(':embedContent'), codec: singleEmbedding }
        : { path: under(':batchEmbedContents'), codec: batchEmbeddings };
    default:
      return taskEndpoint({ task, model }, under, readEmbeddingSettings());
  }
}

function createEntry(entry: GoogleAiStudioEntry, base: Base, apiKey: string): OpenableEntry {
  const credentials = Object.freeze({ 'x-goog-api-key': apiKey });
  const version: Version = entry.api_version ?? 'v1beta';
  return {
    slug: entry.slug,
    provider: 'google-ai-studio',
    semconvName: 'gcp.gemini',
    allowInsecure: entry.allow_insecure ?? false,
    locate(model, call) {
      checkModelName(model);
      const { path, codec } = endpointOf(model, call);
      return {
        origin: base.origin,
        path: `${base.prefix}/${version}/${path}`,
        format: 'gemini',
        model,
        host: 'direct',
        headers: NO_HEADERS,
        ...(codec && { codec }),
      };
    },
    authorize: () => credentials,
    proof: { origin: base.origin, path: `${base.prefix}/${version}/models?pageSize=1`, headers: NO_HEADERS },
  };
}

/** Endings that operators copy by mistake: Google's documents show whole paths. */
const VERSION = /\/v1(?:beta|alpha)?(?:\/models)?$/;

function readApiBase(entry: GoogleAiStudioEntry, report: Report): Base | undefined {
  const base = readBase(entry, 'https://generativelanguage.googleapis.com', report);
  const ending = VERSION.exec(base?.prefix ?? '')?.[0];
  if (!base || ending === undefined) return base;
  const message = `base_url ends with ${ending}; the version (api_version) and the rest are added to it for each request`;
  report({ path: ['base_url'], message, suggestion: base.origin + base.prefix.slice(0, -ending.length) });
  return undefined;
}

/** Models for embeddings and images have no conversation, and the name tells. */
function tasksOf(model: string): ReadonlySet<ModelTask> | undefined {
  const tasks = new Set(MODEL_TASKS.filter((task) => unlessRefused(() => endpointOf(model, { task, stream: false }))));
  const draws = tasks.has('images') && !model.startsWith('gemini-');
  if (tasks.has('embeddings') || draws) tasks.delete('generate');
  if (draws) tasks.delete('count_tokens');
  return tasks;
}

/** Google AI Studio: the Gemini Developer API, with an API key in place of a project. */
export const googleAiStudio = defineProvider<GoogleAiStudioEntry>({
  name: 'google-ai-studio',
  create(entry, { report }) {
    const base = readApiBase(entry, report);
    const apiKey = readApiKey(entry.api_key, report);
    return base && apiKey !== undefined ? createEntry(entry, base, apiKey) : undefined;
  },
  tasksOf: (_, model) => tasksOf(model),
  speaks: () => [{ format: 'gemini', host: 'direct' }],
});
