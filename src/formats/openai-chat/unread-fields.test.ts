import { expect, it } from 'vitest';
import { deepFreeze } from '../laws.testkit.ts';
import { unreadFields } from './unread-fields.ts';

const unread = (body: object) => unreadFields(deepFreeze({ ...body }));
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
  ['a name every object has', message({ role: 'user', constructor: 'x' }), ['messages[1].constructor']],
])('names the field nobody reads of %s', (_of, body, paths) => expect(unread(body)).toEqual(paths));

it.each([
  ['what is not set', message({ role: 'assistant', weight: null, tool_calls: [{ id: 'a', function: null, x: null }] })],
  ['what OpenAI puts into its replies', message({ role: 'assistant', content: 'x', refusal: null, annotations: [] })],
  ['a part that is kept whole', part({ type: 'document', source: {}, title: 't' })],
  ['a tool that is kept whole', { tools: [{ type: 'web_search_20250305', max_uses: 1 }] }],
  ['a schema', { tools: [{ type: 'function', function: { name: 'f', parameters: { 'x-mine': 1 } } }] }],
  ['a piece of a block', message({ role: 'assistant', content_blocks: [{ index: 0, delta: { thinking: 'x' } }] })],
  ['a body that is no list', { messages: 'x', tools: {} }],
])('has nothing to say of %s', (_of, body) => expect(unread(body)).toEqual([]));
