import type { JsonObject, ResponseFormat } from '../conversation.ts';
import { invalidValue, readBoolean, readObject, readString, required } from './read.ts';
import { compact } from '../json/compact.ts';
import { isObject } from '../json/object.ts';

export function decodeResponseFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  if (!format) return undefined;
  const path = 'response_format.json_schema';
  switch (format.type) {
    case 'text':
    case 'json_object':
      return { type: format.type };
    case 'json_schema': {
      const wrapper = required(readObject(format.json_schema, path), path);
      if (isBareSchema(wrapper)) return { type: 'json_schema', schema: wrapper };
      return compact({
        type: 'json_schema' as const,
        name: readString(wrapper.name, `${path}.name`),
        description: readString(wrapper.description, `${path}.description`),
        schema: readObject(wrapper.schema, `${path}.schema`),
        strict: readBoolean(wrapper.strict, `${path}.strict`),
      });
    }
    default:
      throw invalidValue(
        'response_format.type',
        '`response_format.type` must be one of text, json_object, json_schema.',
      );
  }
}

/**
 * Some clients send the schema in place of its wrapper (docs/protocols/openai-chat.md#response-format). The wrapper has
 * none of a schema's own keywords.
 */
export function isBareSchema(wrapper: JsonObject): boolean {
  if (isObject(wrapper.schema)) return false;
  return ['type', 'properties', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum'].some((keyword) => keyword in wrapper);
}
