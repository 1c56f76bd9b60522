import {
  geminiCountFields,
  geminiEmbedBatchFields,
  geminiEmbedFields,
  geminiFields,
  geminiPredictFields,
} from '../../formats/fields/gemini-fields.ts';
import { batchForms, singleForms } from '../../formats/gemini/embeddings.ts';
import { gemini, geminiArray } from '../../formats/gemini/index.ts';
import { predictForms } from '../../formats/gemini/predict.ts';
import { toCamel } from '../../formats/json/field-names.ts';
import { GatewayError } from '../../plugin/index.ts';
import { isObject, type BodyFault, type Operation, type RequestBody, type FieldTable } from '../kernel/index.ts';
import { bodySchema } from './body-schema.ts';
import { onModel, onPublishedModel } from './gemini-paths.ts';

const POST = { method: 'POST', format: gemini } as const;

const GENERATE = {
  ...POST,
  ...withOneSpelling(bodySchema('generate-content'), geminiFields),
  task: 'generate',
  semconvName: 'generate_content',
} as const;

const PLAIN = { ...GENERATE, id: 'gemini.generate_content' } as const;
const STREAM = { ...GENERATE, id: 'gemini.stream_generate_content' } as const;
/**
 * Without it a stream is one JSON array (docs/protocols/gemini.md#json-array-stream). Google's system parameters have a
 * second name with a dollar: https://cloud.google.com/apis/docs/system-parameters
 */
const SSE = ['alt', '$alt'].map((name) => ({ query: { name, value: 'sse' } }));

/** https://ai.google.dev/api/generate-content, and the same methods of Vertex AI. */
export const geminiGenerate: readonly Operation[] = [
  ...[onModel('generateContent', false), ...onPublishedModel('generateContent', false)].map((path) => ({
    ...PLAIN,
    ...path,
  })),
  ...[onModel('streamGenerateContent', true), ...onPublishedModel('streamGenerateContent', true)].flatMap((path) => [
    ...SSE.map((query) => ({ ...STREAM, ...query, ...path })),
    { ...STREAM, ...path, format: geminiArray },
  ]),
];

const COUNT = { ...POST, task: 'count_tokens', semconvName: 'count_tokens' } as const;

/** The Developer API's, which may hold a whole request: https://ai.google.dev/api/tokens */
export const developerCountTokens: Operation = {
  ...COUNT,
  ...onModel('countTokens'),
  ...withOneSpelling(bodySchema('gemini-count-tokens'), geminiCountFields),
  id: 'gemini.count_tokens',
};

const ofVertex = onPublishedModel('countTokens').map(({ fieldsInPath, ...path }): Operation => ({
  ...COUNT,
  ...path,
  ...withOneSpelling(bodySchema('vertex-count-tokens'), geminiCountFields),
  fieldsInPath: (params, body) => ({ ...fieldsInPath?.(params, body), ...textsOfInstances(body) }),
  id: 'vertex.count_tokens',
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

export const geminiCountTokens: readonly Operation[] = [developerCountTokens, ...ofVertex];

const EMBED = { ...POST, task: 'embeddings', semconvName: 'embeddings' } as const;

/**
 * Google's embeddings of one content and of several: https://ai.google.dev/api/embeddings. Older clients of Vertex AI
 * use `predict`: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
 */
export const geminiEmbeddings: readonly Operation[] = [
  ...[onModel('embedContent'), ...onPublishedModel('embedContent')].map((path): Operation => ({
    ...EMBED,
    ...path,
    ...withOneSpelling(bodySchema('embed-content'), geminiEmbedFields),
    id: 'gemini.embed_content',
    taskForms: singleForms,
  })),
  {
    ...EMBED,
    ...onModel('batchEmbedContents'),
    ...withOneSpelling(bodySchema('batch-embed-contents'), geminiEmbedBatchFields),
    id: 'gemini.batch_embed_contents',
    taskForms: batchForms,
  },
  ...[onModel('predict'), ...onPublishedModel('predict')].map((path): Operation => ({
    ...EMBED,
    ...path,
    ...withOneSpelling(bodySchema('predict'), geminiPredictFields),
    id: 'vertex.predict',
    taskForms: predictForms,
  })),
];

/**
 * The fields of bodies in protobuf's JSON, and a check that also refuses one field under both of its names
 * (docs/protocols/gemini.md#protobuf-json): the gateway would check or override one, and the upstream might read the
 * other.
 */
function withOneSpelling(check: Operation['validate'], fields: FieldTable): Pick<Operation, 'fields' | 'validate'> {
  const maps = new Set(fields.freeMaps.map((path) => path.slice(path.lastIndexOf('.') + 1)));
  return { fields, validate: (body) => check(body) ?? twiceIn(body, '', maps) };
}

function twiceIn(value: unknown, path: string, maps: ReadonlySet<string>): BodyFault | undefined {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const fault = typeof item === 'object' && twiceIn(item, `${path}[${index}]`, maps);
      if (fault) return fault;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  for (const key of Object.keys(value)) {
    const name = key.includes('_') ? toCamel(key) : key;
    const param = path === '' ? key : `${path}.${key}`;
    if (name !== key && Object.hasOwn(value, name)) {
      const message = `\`${param}\` and \`${name}\` are the same field: write one of them.`;
      return { message, param, missing: false };
    }
    const inner = value[key];
    const fault = typeof inner === 'object' && !maps.has(name) && twiceIn(inner, param, maps);
    if (fault) return fault;
  }
  return undefined;
}
