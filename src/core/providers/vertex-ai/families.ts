import type { Spoken } from '../definition.ts';
import type { VertexEndpoint } from '../../../../schemas/types.generated.ts';
import { checkBodyModelName, checkModelName, modelSegment, unsupportedTask, unusable } from '../model-name.ts';
import type { ModelCall } from '../provider.ts';
import { NAMED_TOOLS } from '../../../formats/openai-chat/extensions.ts';
import { openAiEmbeddings } from '../openai/whole-replies.ts';
import {
  readEmbeddingSettings,
  predictedEmbeddings,
  taskEndpoint,
  tasksBy,
  type EmbeddingSettings,
  type ModelEndpoint,
} from './task-models.ts';
import { isEndpointId } from './hosts.ts';
import { unlessRefused } from '../../kernel/errors.ts';
import type { ModelTask } from '../../../plugin/index.ts';

/** Models with the same paths and format (docs/protocols/vertex-ai.md#paths). The name is without its prefix. */
export type Family = (model: string, call: ModelCall, settings: EmbeddingSettings) => ModelEndpoint;

/** Methods appended to the path of a model or an endpoint. */
const GENERATE = { plain: ':generateContent', stream: ':streamGenerateContent?alt=sse' } as const;
const RAW = { plain: ':rawPredict', stream: ':streamRawPredict' } as const;

type Verbs = typeof GENERATE | typeof RAW;

function generateOnly(model: string, { task }: ModelCall): void {
  if (task !== 'generate') throw unsupportedTask(model, task);
}

const verb = ({ plain, stream }: Verbs, call: ModelCall): string => (call.stream ? stream : plain);

const published = (publisher: string, model: string, method: string): string =>
  `publishers/${publisher}/models/${modelSegment(model)}${method}`;

const withoutVersion = (model: string): string => model.replace(/(?<=.)@.*$/, '');

const chatOf = (endpoint: string): string => `endpoints/${endpoint}/chat/completions`;

/** Google's own: Gemini, and the models for embeddings and images. */
export const google: Family = (model, call, settings) => {
  const under = (method: string) => published('google', model, method);
  switch (call.task) {
    case 'generate':
      return { path: under(verb(GENERATE, call)), format: 'gemini', model };
    case 'count_tokens':
      return { path: under(':countTokens'), format: 'gemini', model };
    default:
      return taskEndpoint({ task: call.task, model }, under, settings);
  }
};

export const claude: Family = (model, call) => {
  if (call.task === 'count_tokens') {
    // One path for all of them, the model's name in the body (docs/protocols/vertex-ai.md#claude-token-count).
    return {
      path: published('anthropic', 'count-tokens', RAW.plain),
      format: 'anthropic-messages',
      model: withoutVersion(model),
      modelInBody: true,
    };
  }
  generateOnly(model, call);
  return { path: published('anthropic', model, verb(RAW, call)), format: 'anthropic-messages', model };
};

/** A function is the caller's own whatever its name is: these models have no other tools. */
const OWN_FUNCTIONS: ReadonlySet<string> = new Set(NAMED_TOOLS);

/** The extensions that Google documents for models as a service (docs/protocols/vertex-ai.md#open-model-fields). */
const LLAMA: ReadonlySet<string> = new Set(['top_k', ...NAMED_TOOLS]);
const OPEN_MODELS: ReadonlySet<string> = new Set(['top_k', 'reasoning_content', ...NAMED_TOOLS]);
const GEMINI_AS_OPEN_MODEL: ReadonlySet<string> = new Set(['extra_content', ...NAMED_TOOLS]);

/** The body has the name without its version (Google's documents and Mistral's client). As at Mistral, stream options are not sent. */
const mistral: Family = (model, call) => {
  generateOnly(model, call);
  return {
    path: published('mistralai', model, verb(RAW, call)),
    format: 'openai-chat',
    model: withoutVersion(model),
    streamUsage: false,
    extensions: OWN_FUNCTIONS,
  };
};

/** Models as a service: one path for all of them, with publisher and name in the body. */
const openModel: Family = (model, call) => {
  generateOnly(model, call);
  return { path: chatOf('openapi'), format: 'openai-chat', model, extensions: extensionsOf(model) };
};

function extensionsOf(model: string): ReadonlySet<string> {
  if (model.startsWith('meta/')) return LLAMA;
  return model.startsWith('google/gemini') ? GEMINI_AS_OPEN_MODEL : OPEN_MODELS;
}

const meta: Family = (model, call, settings) => openModel(`meta/${model}`, call, settings);

/** Path and format of an endpoint, by the `method` in its settings. */
export const ENDPOINT_METHODS: Readonly<Record<NonNullable<VertexEndpoint['method']>, Family>> = {
  chat: (id, call) => {
    generateOnly(id, call);
    return { path: chatOf(id), format: 'openai-chat', model: id };
  },
  raw_predict: (id, call) => {
    // Embeddings never stream, even if the body sets `stream`.
    if (call.task === 'embeddings')
      return { path: `endpoints/${id}${RAW.plain}`, format: 'openai-chat', model: id, codec: openAiEmbeddings };
    generateOnly(id, call);
    return { path: `endpoints/${id}${verb(RAW, call)}`, format: 'openai-chat', model: id };
  },
  predict: (id, call, settings) => {
    const path = `endpoints/${id}:predict`;
    if (call.task === 'embeddings') return predictedEmbeddings(path, id, settings);
    generateOnly(id, call);
    return { path, format: 'openai-chat', model: id };
  },
  gemini: (id, call) => {
    if (call.task === 'count_tokens') return { path: `endpoints/${id}:countTokens`, format: 'gemini', model: id };
    generateOnly(id, call);
    return { path: `endpoints/${id}${verb(GENERATE, call)}`, format: 'gemini', model: id };
  },
};

/** Precedes the name or the id of an endpoint. */
export const ENDPOINT_PREFIX = 'endpoints.';

/** A model deployed to an endpoint that is not in the settings. */
const endpoint: Family = (id, call, settings) => {
  if (!isEndpointId(id))
    throw unusable(`endpoints.${id}`, 'names no endpoint: write the id of the endpoint after `endpoints.`');
  return ENDPOINT_METHODS.chat(id, call, settings);
};

/** The prefixes of a model name that select a family (docs/protocols/vertex-ai.md#model-prefixes). */
const PREFIXES: ReadonlyMap<string, Family> = new Map([
  ['google', google],
  ['anthropic', claude],
  ['familya', claude],
  ['meta', meta],
  ['familyb', meta],
  ['mistralai', mistral],
  ['endpoints', endpoint],
]);

/** Publishers whose models are also served as open models; models with other prefixes have paths of their own. */
const OPEN_PREFIXES: ReadonlySet<string> = new Set(['google', 'meta']);

/** `deepseek-ai/deepseek-v3.1-maas`, `openai/gpt-oss-120b-maas`: publisher and model in Google's notation. */
const OPEN_MODEL = /^([a-z][a-z0-9-]+)\/[A-Za-z0-9][A-Za-z0-9._@:-]*$/;

interface FamilyModel {
  readonly family: Family;
  readonly model: string;
}

/** Splits off the part before the first dot if it is a known prefix; otherwise the whole name is Google's: `gemini-2.5-pro`. */
export function readFamily(name: string): FamilyModel {
  const publisher = OPEN_MODEL.exec(name)?.[1];
  if (publisher !== undefined) return readOpenModel(name, publisher);
  checkModelName(name);
  const dot = name.indexOf('.');
  const prefix = dot < 0 ? '' : name.slice(0, dot);
  const family = PREFIXES.get(prefix);
  if (!family) return { family: google, model: name };
  const model = name.slice(dot + 1);
  // A path segment `.` would be removed (RFC 3986, 6.2.2.3).
  if (model === '' || model === '.') throw unusable(name, `has no name after \`${prefix}.\``);
  return { family, model };
}

function readOpenModel(name: string, publisher: string): FamilyModel {
  checkBodyModelName(name);
  if (PREFIXES.has(publisher) && !OPEN_PREFIXES.has(publisher))
    throw unusable(name, `has a slash instead of a dot: write \`${name.replace('/', '.')}\``);
  return { family: openModel, model: name };
}

/** The tasks of a model, as far as its name determines them; undefined where it does not. */
export function tasksOf(name: string): ReadonlySet<ModelTask> | undefined {
  if (name.startsWith(ENDPOINT_PREFIX)) return undefined;
  const named = unlessRefused(() => readFamily(name));
  return named ? tasksBy(named.model, (task) => endpointOf(named, task)) : undefined;
}

/** The API of a model that answers; undefined where its name does not determine it. */
export function spokenBy(name: string): readonly Spoken[] | undefined {
  if (name === '' || name.startsWith(ENDPOINT_PREFIX)) return undefined;
  const spoken = unlessRefused(() => endpointOf(readFamily(name), 'generate'));
  return spoken && [{ ...spoken, host: 'vertex' }];
}

const endpointOf = ({ family, model }: FamilyModel, task: ModelTask) =>
  family(model, { task, stream: false }, readEmbeddingSettings());
