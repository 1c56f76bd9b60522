import type { JsonObject } from '../../../formats/conversation.ts';
import type { LossReport } from '../../../formats/losses/losses.ts';
import { invalidValue } from '../../../formats/openai-chat/read.ts';
import { asBoolean, asDimensions, asString, asText, EmbeddingFields } from './fields.ts';
import { asTaskType, TASK_TYPE_FIELDS, WITH_TITLE } from './task-type.ts';

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

export interface Purpose {
  readonly taskType?: string;
  readonly title?: string;
}

/** Reads the purpose of the vectors. Google answers 400 to a title without its task. */
export function readPurpose(fields: EmbeddingFields, losses: LossReport): Purpose {
  const taskType = fields.take(TASK_TYPE_FIELDS, asTaskType);
  const title = fields.take(['title'], asText);
  if (title !== undefined && taskType !== WITH_TITLE)
    losses.dropped('title', `A title is accepted only with task_type ${WITH_TITLE}`);
  return {
    ...(taskType !== undefined && { taskType }),
    ...(title !== undefined && taskType === WITH_TITLE && { title }),
  };
}

export interface EmbeddingShape {
  readonly autoTruncate?: boolean;
  readonly outputDimensionality?: number;
}

/** Reads truncation and dimensions, with the names that Google uses in both `:predict` and `:embedContent`. */
export function readShape(fields: EmbeddingFields): EmbeddingShape {
  const autoTruncate = fields.take(['auto_truncate', 'autoTruncate'], asBoolean);
  const outputDimensionality = fields.take(['dimensions'], asDimensions);
  return {
    ...(autoTruncate !== undefined && { autoTruncate }),
    ...(outputDimensionality !== undefined && { outputDimensionality }),
  };
}
