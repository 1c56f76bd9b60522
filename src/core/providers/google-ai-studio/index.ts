import type { GoogleAiStudioEntry } from '../../../../schemas/types.generated.ts';
import { readApiKey, readBareBase, type Base } from '../entry-settings.ts';
import { defineProvider, type OpenableEntry } from '../definition.ts';
import { checkModelName, modelSegment } from '../model-name.ts';
import type { Location, ModelCall } from '../provider.ts';
import { readEmbeddingSettings, taskEndpoint, tasksBy } from '../vertex-ai/task-models.ts';
import { batchEmbeddings, singleEmbedding } from './embeddings.ts';
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
  const version: NonNullable<GoogleAiStudioEntry['api_version']> = entry.api_version ?? 'v1beta';
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

const BASE = {
  origin: 'https://generativelanguage.googleapis.com',
  mistake: /\/v1(?:beta|alpha)?(?:\/models)?$/,
  added: 'the version (api_version) and the rest',
};

/** Google AI Studio: the Gemini Developer API, with an API key in place of a project. */
export const googleAiStudio = defineProvider<GoogleAiStudioEntry>({
  name: 'google-ai-studio',
  create(entry, { report }) {
    const base = readBareBase(entry, BASE, report);
    const apiKey = readApiKey(entry.api_key, report);
    return base && apiKey !== undefined ? createEntry(entry, base, apiKey) : undefined;
  },
  tasksOf: (_, model) => tasksBy(model, (task) => endpointOf(model, { task, stream: false })),
  speaks: () => [{ format: 'gemini', host: 'direct' }],
});
