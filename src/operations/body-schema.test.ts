import { globSync, readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../package-root.ts';
import { bodySchema } from './body-schema.ts';

const validate = bodySchema('chat-completions');
const messages = [{ role: 'user', content: 'hi' }];
const body = (more: object) => ({ model: 'm', messages, ...more });

describe('the schemas of the package', () => {
  // Production does not check them.
  it.each(globSync('*.json', { cwd: packageFile('schemas') }).toSorted())('are draft-07: %s', (file) => {
    const ajv = new Ajv({ strict: false });
    const schema = JSON.parse(readFileSync(packageFile(`schemas/${file}`), 'utf8')) as object;
    expect([ajv.validateSchema(schema), ajv.errors]).toEqual([true, null]);
  });
});

describe('the schema of chat requests', () => {
  it.each<[string, unknown, { message: string; param: string | null; missing?: boolean }]>([
    ['a body without a model', { messages }, { message: '`model` is required.', param: 'model', missing: true }],
    ['a body that is a list', [], { message: 'The body must be object.', param: null }],
    ['a model that is a number', body({ model: 1 }), { message: '`model` must be string.', param: 'model' }],
    [
      'an unknown role',
      body({ messages: [{ role: 'boss' }] }),
      {
        message: '`messages[0].role` must be one of "developer", "system", "user", "assistant", "tool", "function".',
        param: 'messages[0].role',
      },
    ],
    [
      'a part that is a number',
      body({ messages: [{ role: 'user', content: ['x', 7] }] }),
      { message: '`messages[0].content[0]` must be object.', param: 'messages[0].content[0]' },
    ],
    [
      'a text part without text',
      body({ messages: [{ role: 'user', content: [{ type: 'text' }] }] }),
      { message: '`messages[0].content[0].text` is required.', param: 'messages[0].content[0].text', missing: true },
    ],
    [
      'an image without a URL',
      body({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] }),
      {
        message: '`messages[0].content[0].image_url.url` is required.',
        param: 'messages[0].content[0].image_url.url',
        missing: true,
      },
    ],
    [
      'a tool message without its call',
      body({ messages: [{ role: 'tool', content: 'x' }] }),
      { message: '`messages[0].tool_call_id` is required.', param: 'messages[0].tool_call_id', missing: true },
    ],
    [
      'a tool without a function',
      body({ tools: [{ type: 'function' }] }),
      { message: '`tools[0].function` is required.', param: 'tools[0].function', missing: true },
    ],
    [
      'a function without a name',
      body({ tools: [{ type: 'function', function: {} }] }),
      { message: '`tools[0].function.name` is required.', param: 'tools[0].function.name', missing: true },
    ],
    [
      'a block that is neither whole nor a fragment',
      body({ messages: [{ role: 'assistant', content_blocks: [{ index: 0, delta: 'x' }] }] }),
      {
        message: '`messages[0].content_blocks[0].type` is required.',
        param: 'messages[0].content_blocks[0].type',
        missing: true,
      },
    ],
    [
      'arguments that are not text',
      body({ messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] }] }),
      {
        message: '`messages[0].tool_calls[0].function.arguments` must be string or null.',
        param: 'messages[0].tool_calls[0].function.arguments',
      },
    ],
    [
      'a stop that is a number',
      body({ stop: 3 }),
      { message: '`stop` must be string or array or null.', param: 'stop' },
    ],
    [
      'a fraction of a token',
      body({ max_tokens: 1.5 }),
      { message: '`max_tokens` must be integer or null.', param: 'max_tokens' },
    ],
  ])('refuses %s and names the field', (_, value, fault) => {
    expect(validate(value)).toEqual({ missing: false, ...fault });
  });

  it.each([
    ['only the required fields', body({})],
    [
      'nulls where OpenAI’s clients send them',
      body({
        temperature: null,
        stop: null,
        tools: null,
        stream: null,
        response_format: null,
        messages: [{ role: 'assistant', content: null, tool_calls: null, refusal: null }],
      }),
    ],
    [
      'unknown fields, at every level',
      body({
        x: 1,
        messages: [{ role: 'user', content: [{ type: 'new', y: 2 }], z: 3 }],
        tools: [{ type: 'new_tool', w: 4 }],
      }),
    ],
    [
      'the gateway’s extensions',
      body({
        thinking: { type: 'enabled', budget_tokens: 0 },
        labels: { a: 'b' },
        safety_settings: [{}],
        top_k: 3,
        image_config: {},
        messages: [
          {
            role: 'assistant',
            content_blocks: [
              { type: 'thinking', thinking: '', signature: 's' },
              { index: 1, delta: { text: 'x' } },
            ],
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '', thought_signature: 's' } }],
          },
        ],
      }),
    ],
  ])('accepts %s', (_, value) => {
    expect(validate(value)).toBeUndefined();
  });

  const corpus = join(packageFile(''), '../shared/corpus/dev/openai-chat.jsonl');
  it.skipIf(!existsSync(corpus))('accepts every request of the recorded traffic that OpenAI accepted', () => {
    const records = readFileSync(corpus, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(
        (line) =>
          JSON.parse(line) as { response_status: number; request_body_kind: string; request_body: unknown; op: string },
      );
    const accepted = records.filter(
      (record) =>
        record.response_status === 200 && record.request_body_kind === 'json' && record.op === 'chat.completions',
    );
    expect(accepted.length).toBeGreaterThan(100);
    expect(accepted.map(({ request_body: request }) => validate(request)).filter(Boolean)).toEqual([]);
  });
});
