import { LIFTED, MODEL_LISTS, type FieldTable } from './field-table.ts';

/** POST /v1/embeddings, with the fields that Vertex AI's own API adds. */
export const embeddingsFields: FieldTable = {
  read: [
    'model',
    'input',
    'dimensions',
    'encoding_format',
    'user',
    'title',
    ...MODEL_LISTS,
    'task_type',
    'taskType',
    'input_type',
    'auto_truncate',
    'autoTruncate',
  ],
  // `input_type` is Cohere's name for the purpose of an embedding.
  synonyms: [['task_type', 'taskType', 'input_type']],
  bothCases: true,
  lifted: LIFTED,
  models: MODEL_LISTS,
  freeMaps: ['metadata', 'labels'],
};
