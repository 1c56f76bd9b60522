import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { LoseField, TaskForms } from '../task-forms.ts';
import { compact, objectOf, stringOf } from '../json/object.ts';
import { checkSame } from './embeddings.ts';
import { countOf } from '../counts.ts';
import { asNumber, objectsOf, pick } from './wire.ts';

/**
 * Vertex AI's `:predict` for embeddings as OpenAI's, and OpenAI's reply as its predictions (docs/protocols/embeddings.md#google-predict).
 * A target of Vertex AI with the same method gets the body as it is.
 */
export const predictForms: TaskForms = {
  native: 'predict',
  fields: {
    task_type: 'instances[0].task_type',
    title: 'instances[0].title',
    dimensions: 'parameters.outputDimensionality',
    auto_truncate: 'parameters.autoTruncate',
  },
  toOpenAi(body, lose) {
    const instances = objectsOf(pick(body, 'instances'));
    const [first = {}, ...others] = instances.map(purposeOf);
    others.forEach((purpose, at) =>
      checkSame(first, purpose, (name) => `instances[${at + 1}].${name === 'task_type' ? name : 'title'}`),
    );
    loseOthers(body, BODY, '', lose);
    instances.forEach((instance, at) => loseOthers(instance, INSTANCE, `instances[${at}].`, lose));
    const parameters = objectOf(pick(body, 'parameters')) ?? {};
    loseOthers(parameters, PARAMETERS, 'parameters.', lose);
    return compact({
      encoding_format: 'float',
      input: instances.map(textOf),
      ...first,
      dimensions: asNumber(pick(parameters, 'outputDimensionality')),
      auto_truncate: pick(parameters, 'autoTruncate'),
    });
  },
  fromOpenAi: ({ data, usage }) => ({ predictions: predictionsOf(objectsOf(data), objectOf(usage)) }),
};

const BODY: ReadonlySet<string> = new Set(['model', 'stream', 'instances', 'parameters']);
const INSTANCE: ReadonlySet<string> = new Set(['content', 'task_type', 'taskType', 'title']);
const PARAMETERS: ReadonlySet<string> = new Set([
  'outputDimensionality',
  'output_dimensionality',
  'autoTruncate',
  'auto_truncate',
]);

function loseOthers(object: JsonObject, known: ReadonlySet<string>, path: string, lose: LoseField): void {
  for (const [key, value] of Object.entries(object))
    if (!known.has(key) && value !== null) lose(path + key, 'This model has no such field');
}

const purposeOf = (instance: JsonObject): JsonObject =>
  compact({ task_type: pick(instance, 'taskType'), title: pick(instance, 'title') });

/** Fields in place of a text: those of the multimodal model, which gives each a vector of its own, and those of other tasks. */
const OTHERS = ['text', 'image', 'video', 'prompt'] as const;

function textOf(instance: JsonObject, at: number): string {
  const place = `instances[${at}]`;
  const other = OTHERS.find((name) => instance[name] !== undefined && instance[name] !== null);
  if (other !== undefined) {
    const why =
      other === 'prompt' ? '`:predict` serves embeddings alone' : 'only multimodalembedding on Vertex AI takes it';
    throw new RequestFault(
      'unsupported_parameter',
      `\`${place}.${other}\`: ${why}. Send \`content\`.`,
      `${place}.${other}`,
    );
  }
  const text = stringOf(instance['content']) ?? '';
  if (text !== '') return text;
  throw new RequestFault(
    'missing_required_parameter',
    `\`${place}.content\` must be a text to embed.`,
    `${place}.content`,
  );
}

/** Google's SDK for Python needs the statistics. The first prediction has the tokens of all, which OpenAI counts. */
function predictionsOf(data: readonly JsonObject[], usage: JsonObject = {}): readonly JsonObject[] {
  return data
    .toSorted((a, b) => Number(a['index'] ?? 0) - Number(b['index'] ?? 0))
    .map(({ embedding, truncated = false }, at) => ({
      embeddings: {
        values: embedding,
        statistics: { truncated, token_count: at === 0 ? (countOf(usage['prompt_tokens']) ?? 0) : 0 },
      },
    }));
}
