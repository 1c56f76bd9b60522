import { expect, it } from 'vitest';
import { deepFreeze } from '../contexts.testkit.ts';
import { unreadFields } from './unread-fields.ts';

const unread = (body: object) => unreadFields(deepFreeze({ ...body })).map(({ param }) => param);
const message = (fields: object) => ({ messages: [{ role: 'user', content: 'x' }, fields] });
const part = (fields: object) => message({ role: 'user', content: [fields] });

it.each([
  ['a message', message({ role: 'user', content: 'x', weight: 0 }), ['messages[1].weight']],
  ['a text', part({ type: 'text', text: 'x', lang: 'de' }), ['messages[1].content[0].lang']],
  [
    'an image and its address',
    part({ type: 'image_url', alt: 'a', image_url: { url: 'u', crop: [1] } }),
    ['messages[1].content[0].alt', 'messages[1].content[0].image_url.crop'],
  ],
  ['a file', part({ type: 'file', file: { file_id: 'f', pages: 3 } }), ['messages[1].content[0].file.pages']],
  [
    'a call, and what it calls',
    message({
      role: 'assistant',
      tool_calls: [{ id: 'a', mood: 1, function: { name: 'f', arguments: '', extra: 2 } }],
    }),
    ['messages[1].tool_calls[0].mood', 'messages[1].tool_calls[0].function.extra'],
  ],
  [
    'a block that came back',
    message({ role: 'assistant', content_blocks: [{ type: 'thinking', thinking: '', more: 1 }] }),
    ['messages[1].content_blocks[0].more'],
  ],
  [
    'a tool, and its function',
    { tools: [{ type: 'function', priority: 1, function: { name: 'f', returns: {} } }] },
    ['tools[0].priority', 'tools[0].function.returns'],
  ],
  ['a deprecated function', { functions: [{ name: 'f', returns: {} }] }, ['functions[0].returns']],
  [
    'the choice of a tool, and of several',
    { tool_choice: { type: 'function', disable_parallel_tool_use: true, function: { name: 'f', why: 1 } } },
    ['tool_choice.disable_parallel_tool_use', 'tool_choice.function.why'],
  ],
  [
    'the tools that are allowed',
    { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', x: 1 }] } } },
    ['tool_choice.allowed_tools.tools[0].x'],
  ],
  ['the deprecated choice', { function_call: { name: 'f', why: 1 } }, ['function_call.why']],
  [
    'thinking and of the stream',
    {
      thinking: { type: 'enabled', budget_tokens: 1, depth: 2 },
      stream_options: { include_usage: true, include_obfuscation: true },
    },
    ['thinking.depth', 'stream_options.include_obfuscation'],
  ],
  ['a padding that is turned off', { stream_options: { include_obfuscation: false } }, []],
  [
    'the answer, and of the wrapper of its schema',
    { response_format: { type: 'json_schema', retries: 1, json_schema: { name: 'n', schema: {}, example: {} } } },
    ['response_format.retries', 'response_format.json_schema.example'],
  ],
  [
    'an answer without a schema',
    { response_format: { type: 'json_object', json_schema: {} } },
    ['response_format.json_schema'],
  ],
  ['a name every object has', message({ role: 'user', constructor: 'x' }), ['messages[1].constructor']],
])('names the unread field of %s', (_of, body, paths) => expect(unread(body)).toEqual(paths));

const OF_THE_ASSISTANT = {
  tool_calls: [{ id: 'a', mood: 1 }],
  function_call: { name: 'f' },
  refusal: 'No.',
  audio: { id: 'a' },
  annotations: [],
  content_blocks: [{ type: 'text', text: 'x', more: 1 }],
  content_parts: [{ type: 'text', text: 'x' }],
  reasoning_content: 'Hm',
};

it.each([
  ['user', { ...OF_THE_ASSISTANT, tool_call_id: 'a' }],
  ['system', { ...OF_THE_ASSISTANT, tool_call_id: 'a' }],
  ['developer', { ...OF_THE_ASSISTANT, tool_call_id: 'a' }],
  ['tool', OF_THE_ASSISTANT],
  ['function', { ...OF_THE_ASSISTANT, tool_call_id: 'a' }],
  ['assistant', { tool_call_id: 'a' }],
])('names the fields of other roles on a message of the role %s', (role, fields) =>
  expect(unread(message({ role, content: 'x', ...fields }))).toEqual(
    Object.keys(fields).map((field) => `messages[1].${field}`),
  ),
);

it('reports no field that the decoder reads for a role', () => {
  const cache_control = { type: 'ephemeral' };
  const roles = ['developer', 'system', 'user', 'assistant', 'tool', 'function'];
  const messages: object[] = roles.map((role) => ({ role, content: 'x', name: 'n', cache_control }));
  messages.push({ role: 'tool', tool_call_id: 'a', content: 'x' });
  const { tool_calls: _, content_blocks: __, ...read } = OF_THE_ASSISTANT;
  messages.push({ role: 'assistant', ...read });
  expect(unread({ messages })).toEqual([]);
});

it.each([
  ['what is not set', message({ role: 'assistant', weight: null, tool_calls: [{ id: 'a', function: null, x: null }] })],
  ['what OpenAI puts into its replies', message({ role: 'assistant', content: 'x', refusal: null, annotations: [] })],
  ['a part that is kept whole', part({ type: 'document', source: {}, title: 't' })],
  ['a tool that is kept whole', { tools: [{ type: 'web_search_20250305', max_uses: 1 }] }],
  ['a schema', { tools: [{ type: 'function', function: { name: 'f', parameters: { 'x-mine': 1 } } }] }],
  ['a piece of a block', message({ role: 'assistant', content_blocks: [{ index: 0, delta: { thinking: 'x' } }] })],
  ['a schema where its wrapper belongs', { response_format: { type: 'json_schema', json_schema: { type: 'object' } } }],
  ['options that are words', { tool_choice: 'auto', function_call: 'none', response_format: null }],
  ['an option that is kept whole', { audio: { voice: 'v', mood: 1 }, metadata: { a: 'b' } }],
  ['a body that is no list', { messages: 'x', tools: {} }],
])('reports no field of %s', (_of, body) => expect(unread(body)).toEqual([]));
