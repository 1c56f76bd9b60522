import { geminiCountFields } from '../formats/fields/gemini-fields.ts';
import { gemini } from '../formats/gemini/index.ts';
import type { Operation } from '../plugin/index.ts';
import { bodySchema } from './body-schema.ts';
import { onModel, onPublishedModel } from './gemini-paths.ts';
import { withOneSpelling } from './one-spelling.ts';

const COUNT = {
  method: 'POST',
  task: 'count_tokens',
  semconvName: 'count_tokens',
  format: gemini,
  fields: geminiCountFields,
} as const;

/** The Developer API's, which may hold a whole request: https://ai.google.dev/api/tokens */
export const developerCountTokens: Operation = {
  ...COUNT,
  ...onModel('countTokens'),
  id: 'gemini.count_tokens',
  validate: withOneSpelling(bodySchema('gemini-count-tokens'), geminiCountFields),
};

const ofVertex = onPublishedModel('countTokens').map((path): Operation => ({
  ...COUNT,
  ...path,
  id: 'vertex.count_tokens',
  validate: withOneSpelling(bodySchema('vertex-count-tokens'), geminiCountFields),
}));

/**
 * Vertex AI's, for clients that know no other path:
 * https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/countTokens
 */
export const [vertexCountTokens] = ofVertex as [Operation, ...Operation[]];

/** Counts of tokens in Google's form (docs/protocols/gemini.md#count-tokens). */
export const geminiCountTokens: readonly Operation[] = [developerCountTokens, ...ofVertex];
