import { geminiCountFields } from '../../formats/fields/gemini-fields.ts';
import { gemini } from '../../formats/gemini/index.ts';
import { GatewayError } from '../../plugin/index.ts';
import { type Operation, type RequestBody, isObject } from '../kernel/index.ts';
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

const ofVertex = onPublishedModel('countTokens').map(({ fieldsInPath, ...path }): Operation => ({
  ...COUNT,
  ...path,
  fieldsInPath: (params, body) => ({ ...fieldsInPath?.(params, body), ...textsOfInstances(body) }),
  id: 'vertex.count_tokens',
  validate: withOneSpelling(bodySchema('vertex-count-tokens'), geminiCountFields),
}));

/**
 * Vertex AI's, for clients that know no other path:
 * https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/countTokens
 */
export const [vertexCountTokens] = ofVertex as [Operation, ...Operation[]];

/**
 * Older clients of Vertex AI (`google-cloud-aiplatform`) count the `instances` of a prediction, with a text each
 * (docs/protocols/gemini.md#count-tokens). The models of the gateway count a conversation.
 */
function textsOfInstances(body: RequestBody): {
  readonly contents?: readonly object[];
  readonly instances?: undefined;
} {
  const instances = body.has('contents') || !body.has('instances') ? undefined : body.value('instances');
  if (!Array.isArray(instances) || instances.length === 0) return {};
  return { contents: instances.map(contentOf), instances: undefined };
}

function contentOf(instance: unknown, at: number): object {
  const { content, prompt = content } = isObject(instance) ? instance : {};
  if (typeof prompt === 'string') return { role: 'user', parts: [{ text: prompt }] };
  const param = `instances[${at}]`;
  const message = `\`${param}\` has no text in \`content\` or \`prompt\`: send \`contents\`.`;
  throw new GatewayError('unsupported_parameter', message, { param });
}

/** Counts of tokens in Google's form (docs/protocols/gemini.md#count-tokens). */
export const geminiCountTokens: readonly Operation[] = [developerCountTokens, ...ofVertex];
