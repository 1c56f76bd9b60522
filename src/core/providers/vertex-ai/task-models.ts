import type { VertexEmbeddings } from '../../../../schemas/types.generated.ts';
import type { Location } from '../provider.ts';
import type { ModelTask } from '../../../plugin/index.ts';
import type { TranslatingCodec } from '../codec.ts';
import { MODEL_TASKS } from '../../operations/tasks.ts';
import { unlessRefused } from '../../kernel/errors.ts';
import { unsupportedTask } from '../model-name.ts';
import { embedContentCodec } from './embeddings/embed-content.ts';
import { multimodalCodec } from './embeddings/multimodal.ts';
import { textCodec } from './embeddings/text.ts';
import { geminiImagesCodec } from './images/gemini.ts';
import { imagenCodec, IMAGEN, imagenModel } from './images/imagen.ts';
import { GEMINI_IMAGE, geminiImageModel } from '../../../formats/gemini/image-models.ts';

/** The path of a call below a project and location (or below the version, in express mode), and its format. */
export interface ModelEndpoint extends Pick<
  Location,
  'format' | 'model' | 'streamUsage' | 'modelInBody' | 'extensions' | 'codec'
> {
  readonly path: string;
}

/** The division of embedding requests into calls: `embeddings:` of an entry. */
export interface EmbeddingSettings {
  /** Undefined: the model's own limit. */
  readonly instancesPerCall: number | undefined;
  readonly parallelCalls: number;
}

const MAX_INSTANCES = 250;
const PARALLEL_CALLS = 8;

export function readEmbeddingSettings({
  instances_per_call,
  parallel_calls,
}: VertexEmbeddings = {}): EmbeddingSettings {
  return { instancesPerCall: instances_per_call, parallelCalls: parallel_calls ?? PARALLEL_CALLS };
}

interface TaskModel {
  readonly task: ModelTask;
  /** Fits the model's name in lower case. */
  readonly name: RegExp;
  readonly method: ':predict' | ':embedContent' | ':generateContent';
  readonly codec: (model: string, settings: EmbeddingSettings) => TranslatingCodec;
}

const predicted = ({ instancesPerCall = MAX_INSTANCES, parallelCalls }: EmbeddingSettings): TranslatingCodec =>
  textCodec({ instancesPerCall, parallelCalls });

/** The first row of a task whose name fits counts (docs/protocols/vertex-ai.md#paths, docs/protocols/images.md#models). */
const TASK_MODELS: readonly TaskModel[] = [
  {
    // One is right by older pages of Google and by newer ones (docs/protocols/embeddings.md#one-instance).
    task: 'embeddings',
    name: /^gemini-embedding-(?:0|exp)/,
    method: ':predict',
    codec: (_, settings) => predicted({ ...settings, instancesPerCall: settings.instancesPerCall ?? 1 }),
  },
  {
    task: 'embeddings',
    name: /^gemini-embedding-[1-9]/,
    method: ':embedContent',
    codec: (_, { parallelCalls }) => embedContentCodec(parallelCalls),
  },
  {
    task: 'embeddings',
    name: /^multimodalembedding/,
    method: ':predict',
    codec: (_, { parallelCalls }) => multimodalCodec(parallelCalls),
  },
  {
    // `text-embedding-005`, `text-multilingual-embedding-002`, `textembedding-gecko@003`, and unknown models with such a name.
    task: 'embeddings',
    name: /embed/,
    method: ':predict',
    codec: (_, settings) => predicted(settings),
  },
  { task: 'images', name: IMAGEN, method: ':predict', codec: (model) => imagenCodec(imagenModel(model)) },
  {
    task: 'images',
    name: GEMINI_IMAGE,
    method: ':generateContent',
    codec: (model) => geminiImagesCodec(geminiImageModel(model)),
  },
];

/**
 * The path and codec of a model for one task, with Google's errors. Throws GatewayError `unsupported_task`.
 * @param under path of the model with a method behind it
 */
export function taskEndpoint(
  { task, model }: { readonly task: TaskModel['task']; readonly model: string },
  under: (method: string) => string,
  settings: EmbeddingSettings,
): ModelEndpoint {
  const name = task === 'images' ? model.toLowerCase() : model;
  const row = TASK_MODELS.find((one) => one.task === task && one.name.test(name));
  if (!row) throw unsupportedTask(model, task);
  return { path: under(row.method), format: 'gemini', model, codec: row.codec(model, settings) };
}

/** The tasks that a model has by its name. @param locate throws GatewayError for a task that has no path */
export function tasksBy(model: string, locate: (task: ModelTask) => object): ReadonlySet<ModelTask> {
  const tasks = new Set(MODEL_TASKS.filter((task) => unlessRefused(() => locate(task)) !== undefined));
  // All of Google's models have a path for `generate`, but models for embeddings and images do not answer there.
  const draws = tasks.has('images') && !model.startsWith('gemini-');
  if (tasks.has('embeddings') || draws) tasks.delete('generate');
  if (draws) tasks.delete('count_tokens');
  return tasks;
}

/** Text in the shape of Google's own models, at an endpoint of the operator's. */
export const predictedEmbeddings = (path: string, model: string, settings: EmbeddingSettings): ModelEndpoint => ({
  path,
  format: 'gemini',
  model,
  codec: predicted(settings),
});
