import type { FieldTable } from './field-table.ts';
import { GEMINI_INNER } from './inner-names.ts';
import { GEMINI_PARAMETERS, MODEL_LISTS } from './parameter-names.ts';
import { sharedNames } from './shared-parameters.ts';
import { otherApis } from './written-for.ts';

/** generateContent and countTokens (docs/protocols/gemini.md#request-body). `model` and `stream` come from the path. */
export const geminiFields: FieldTable = {
  shared: sharedNames('gemini'),
  otherApis: otherApis('gemini'),
  read: GEMINI_PARAMETERS,
  inner: GEMINI_INNER,
  synonyms: [['generationConfig.responseSchema', 'generationConfig.responseJsonSchema']],
  bothCases: true,
  lifted: [],
  // Of configs, which may write parameters of every API.
  models: MODEL_LISTS,
  toolLists: ['tools'],
  freeMaps: [
    'labels',
    'generationConfig.responseSchema',
    'generationConfig.responseJsonSchema',
    'contents[].parts[].functionCall.args',
    'contents[].parts[].functionResponse.response',
    'tools[].functionDeclarations[].parameters',
    'tools[].functionDeclarations[].parametersJsonSchema',
    'tools[].functionDeclarations[].response',
    'tools[].functionDeclarations[].responseJsonSchema',
  ],
};

/** Fields of a generation alone; the path says which model, and whether the reply is a stream. */
const GENERATION = geminiFields.read.filter((name) => name !== 'model' && name !== 'stream');

/** countTokens of the Developer API: the conversation, or a whole request for generateContent. */
export const geminiCountFields: FieldTable = {
  ...geminiFields,
  read: [...geminiFields.read, 'generateContentRequest'],
  inner: [...geminiFields.read, ...GEMINI_INNER].flatMap((path) => [path, `generateContentRequest.${path}`]),
  nested: [{ at: 'generateContentRequest', fields: GENERATION, only: false }],
};

const EMBEDDING_SETTINGS = ['taskType', 'title', 'outputDimensionality', 'autoTruncate'] as const;

/** embedContent. Vertex AI has the settings in `embedContentConfig`. */
export const geminiEmbedFields: FieldTable = {
  read: ['model', 'stream', 'content', 'taskType', 'title', 'outputDimensionality', 'embedContentConfig'],
  synonyms: [],
  bothCases: true,
  lifted: [],
  models: [],
  freeMaps: [],
  nested: [{ at: 'embedContentConfig', fields: EMBEDDING_SETTINGS, only: false }],
  foreign: GENERATION,
};

/** batchEmbedContents. Each request repeats the model. */
export const geminiEmbedBatchFields: FieldTable = {
  ...geminiEmbedFields,
  read: ['model', 'stream', 'requests'],
  nested: [{ at: 'requests[]', fields: ['content', ...EMBEDDING_SETTINGS, 'embedContentConfig'], only: true }],
};

/** Vertex AI's predict, for embeddings (docs/protocols/embeddings.md#google-predict). */
export const geminiPredictFields: FieldTable = {
  ...geminiEmbedFields,
  read: ['model', 'stream', 'instances', 'parameters'],
  nested: [
    { at: 'instances[]', fields: ['content', 'task_type', 'title'], only: true },
    { at: 'parameters', fields: ['outputDimensionality', 'autoTruncate'], only: true },
  ],
};
