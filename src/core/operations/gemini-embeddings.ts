import { geminiEmbedFields, geminiEmbedBatchFields, geminiPredictFields } from '../../formats/fields/gemini-fields.ts';
import { batchForms, singleForms } from '../../formats/gemini/embeddings.ts';
import { gemini } from '../../formats/gemini/index.ts';
import { predictForms } from '../../formats/gemini/predict.ts';
import type { Operation } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';
import { onModel, onPublishedModel } from './gemini-paths.ts';
import { withOneSpelling } from './one-spelling.ts';

const EMBED = { method: 'POST', task: 'embeddings', semconvName: 'embeddings', format: gemini } as const;

/**
 * Google's embeddings of one content and of several: https://ai.google.dev/api/embeddings. Older clients of Vertex AI use `predict`:
 * https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
 */
export const geminiEmbeddings: readonly Operation[] = [
  ...[onModel('embedContent'), ...onPublishedModel('embedContent')].map((path): Operation => ({
    ...EMBED,
    ...path,
    id: 'gemini.embed_content',
    fields: geminiEmbedFields,
    validate: withOneSpelling(bodySchema('embed-content'), geminiEmbedFields),
    taskForms: singleForms,
  })),
  {
    ...EMBED,
    ...onModel('batchEmbedContents'),
    id: 'gemini.batch_embed_contents',
    fields: geminiEmbedBatchFields,
    validate: withOneSpelling(bodySchema('batch-embed-contents'), geminiEmbedBatchFields),
    taskForms: batchForms,
  },
  ...[onModel('predict'), ...onPublishedModel('predict')].map((path): Operation => ({
    ...EMBED,
    ...path,
    id: 'vertex.predict',
    fields: geminiPredictFields,
    validate: withOneSpelling(bodySchema('predict'), geminiPredictFields),
    taskForms: predictForms,
  })),
];
