import { type Cases, hi, weather } from './case.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, rain: { type: 'boolean' } },
  required: ['city', 'rain'],
  additionalProperties: false,
} as const;
const format = (rest: Record<string, unknown> = {}) => ({
  type: 'json_schema',
  json_schema: { name: 'report', strict: true, schema, ...rest },
});
/** The second one has no structured outputs. */
const CLAUDE = { claude: ['claude-sonnet-4-5', 'claude-sonnet-4-20250514'] } as const;

/** Response formats (docs/protocols/requests.md#response-format). */
export const responseFormat: Cases = {
  text: { title: 'text, said so', request: { response_format: { type: 'text' } } },
  object: { title: 'some JSON object', request: { response_format: { type: 'json_object' } } },
  'object-system': {
    title: 'some JSON object, with a system message',
    request: {
      messages: [{ role: 'system', content: 'Answer in JSON.' }, hi],
      response_format: { type: 'json_object' },
    },
  },
  schema: { title: 'JSON of a schema', request: { response_format: format() }, ...CLAUDE },
  'schema-described': {
    title: 'JSON of a schema with a description',
    request: { response_format: format({ description: 'A weather report.' }) },
    ...CLAUDE,
  },
  'schema-bare': {
    title: 'a schema where its wrapper belongs',
    request: { response_format: { type: 'json_schema', json_schema: schema } },
  },
  'schema-missing': {
    title: 'JSON of a schema that is not there',
    request: { response_format: { type: 'json_schema', json_schema: { name: 'report' } } },
  },
  'schema-list': {
    title: 'JSON of a schema that is no object',
    request: { response_format: format({ schema: { type: 'array', items: { type: 'string' } } }) },
    ...CLAUDE,
  },
  'schema-and-tools': {
    title: 'JSON of a schema beside a tool',
    request: { response_format: format(), tools: [weather] },
    gemini: ['gemini-2.5-flash', 'gemini-3-pro-preview'],
    ...CLAUDE,
  },
  'schema-and-forced-tool': {
    title: 'JSON of a schema beside a tool that must be called',
    request: {
      response_format: format(),
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'weather' } },
    },
    ...CLAUDE,
  },
  'schema-no-tool': {
    title: 'JSON of a schema beside a tool that may not be called',
    request: { response_format: format(), tools: [weather], tool_choice: 'none' },
    ...CLAUDE,
  },
  'schema-while-thinking': {
    title: 'JSON of a schema while the model thinks',
    request: { response_format: format(), thinking: { type: 'enabled', budget_tokens: 1024 } },
    ...CLAUDE,
  },
};
