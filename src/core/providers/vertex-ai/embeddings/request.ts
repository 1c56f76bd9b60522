import type { JsonObject } from '../../../../formats/conversation.ts';
import type { LossReport } from '../../../../formats/losses/losses.ts';
import { compact } from '../../../../formats/json/object.ts';
import { invalidValue } from '../../../../formats/openai-chat/read.ts';
import { asBoolean, asDimensions, asString, asText, EmbeddingFields } from './fields.ts';

/** The reasons why known fields cannot be sent. */
export const REASONS: Readonly<Record<string, string>> = {
  user: 'Vertex AI has no field for the end user',
  labels: 'Vertex AI does not accept cost labels with embeddings',
};

/** Reads the fields that every codec needs; `model` is in the path. */
export function openBody(body: JsonObject): { fields: EmbeddingFields; base64: boolean } {
  const fields = new EmbeddingFields(body);
  fields.take(['model'], asString);
  return { fields, base64: fields.take(['encoding_format'], isBase64) ?? false };
}

function isBase64(value: unknown, param: string): boolean {
  const format = asString(value, param);
  if (format !== 'float' && format !== 'base64')
    throw invalidValue(param, `\`${param}\` must be float or base64 for this model.`);
  return format === 'base64';
}

/** Reads the purpose of the vectors. Google answers 400 to a title without its task. */
export function readPurpose(fields: EmbeddingFields, losses: LossReport) {
  const taskType = fields.take(TASK_TYPE_FIELDS, asTaskType);
  const title = fields.take(['title'], asText);
  if (title !== undefined && taskType !== WITH_TITLE)
    losses.dropped('title', `A title is accepted only with task_type ${WITH_TITLE}`);
  return compact({ taskType, title: taskType === WITH_TITLE ? title : undefined });
}

/** Reads truncation and dimensions, with the names that Google uses in both `:predict` and `:embedContent`. */
export function readShape(fields: EmbeddingFields) {
  return compact({
    autoTruncate: fields.take(['auto_truncate', 'autoTruncate'], asBoolean),
    outputDimensionality: fields.take(['dimensions'], asDimensions),
  });
}

/** Fields for the purpose of the vectors: the gateway's own, Google's spelling, and that of other vendors (Cohere, Voyage, NVIDIA). */
const TASK_TYPE_FIELDS = ['task_type', 'taskType', 'input_type'] as const;

/** The only task that accepts a title (docs/protocols/embeddings.md#task-types). */
const WITH_TITLE = 'RETRIEVAL_DOCUMENT';

/** Google's equivalents for other vendors' `input_type`. Cohere: `search_…`; Voyage: `query`, `document`; NVIDIA: `passage`. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['search_document', WITH_TITLE],
  ['document', WITH_TITLE],
  ['passage', WITH_TITLE],
  ['search_query', 'RETRIEVAL_QUERY'],
  ['query', 'RETRIEVAL_QUERY'],
]);

/** The form of Google's task types. The list is not fixed here: Google accepts or refuses new ones. */
const GOOGLE_WORD = /^[A-Z]+(?:_[A-Z]+)*$/;

function asTaskType(value: unknown, param: string): string {
  const given = asString(value, param);
  const word = ALIASES.get(given.toLowerCase()) ?? given.toUpperCase();
  if (!GOOGLE_WORD.test(word))
    throw invalidValue(param, `\`${param}\` is not a task type, such as RETRIEVAL_QUERY or search_document.`);
  return word;
}
