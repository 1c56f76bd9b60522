import { geminiFields } from '../formats/fields/field-tables.ts';
import { gemini } from '../formats/gemini/index.ts';
import { modelNameOf, namesResource } from '../formats/gemini/model-resource.ts';
import { GatewayError, type Operation } from '../plugin/index.ts';
import { bodySchema } from './body-schema.ts';

/**
 * Vertex AI's token count, for clients that know no other path (docs/protocols/vertex-ai.md#paths,
 * docs/protocols/gemini.md#count-tokens):
 * https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/countTokens
 */
export const vertexCountTokens: Operation = {
  id: 'vertex.count_tokens',
  method: 'POST',
  path: '/v1/projects/{project}/locations/{location}/publishers/{publisher}/models/{model}:countTokens',
  task: 'count_tokens',
  provider: 'vertex-ai',
  semconvName: 'count_tokens',
  format: gemini,
  fields: geminiFields,
  validate: bodySchema('vertex-count-tokens'),
  fieldsInPath({ publisher = '', model = '' }, body) {
    const resource = { publisher, model };
    const name = modelNameOf(resource);
    if (name === undefined) {
      const path = JSON.stringify(`publishers/${publisher}/models/${model}`.slice(0, 200));
      throw new GatewayError('invalid_model', `The path names no model: ${path}.`, { param: 'model' });
    }
    const inBody = body.has('model') ? body.value('model') : undefined;
    if (inBody !== undefined && !(typeof inBody === 'string' && namesResource(inBody, resource)))
      throw new GatewayError('invalid_value', '`model` is not the model that the path names.', { param: 'model' });
    return { model: name };
  },
};
