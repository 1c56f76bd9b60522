import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedUpstream } from '../../support/upstream.ts';
import { claudeSignature } from './anthropic.ts';
import { OPENAI_BLOB } from './responses-input.ts';
import { KEYS, startStrictUpstream } from './strict-upstream.ts';

/** The upstreams of the matrix prove something only as far as they refuse what their vendors refuse. */

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startStrictUpstream();
});
afterAll(() => upstream.close());

const PUBLISHERS = '/v1/projects/p/locations/l/publishers';
const GEMINI = `${PUBLISHERS}/google/models/gemini-3-flash-preview:generateContent`;
const GEMINI_2 = `${PUBLISHERS}/google/models/gemini-2.5-flash:generateContent`;
const VERTEX_CLAUDE = `${PUBLISHERS}/anthropic/models/claude-sonnet-4-5@20250929:rawPredict`;

async function post(path: string, body: object) {
  const response = await fetch(upstream.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${path.includes('/projects/') ? KEYS.google : KEYS.openai}`,
      'x-api-key': KEYS.anthropic,
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const hi = { role: 'user', parts: [{ text: 'hi' }] };
const called = (more: object = {}) => ({
  role: 'model',
  parts: [{ functionCall: { name: 'f', args: { city: 'Oslo' } }, ...more }],
});
const answered = (name = 'f', response: object = { output: 'rain in Oslo' }, more: object[] = []) => ({
  role: 'user',
  parts: [{ functionResponse: { name, response } }, ...more],
});
const answeredWith = (mimeType: string) => {
  const { parts, ...content } = answered();
  const [{ functionResponse }] = parts as [{ functionResponse: object }];
  return {
    ...content,
    parts: [{ functionResponse: { ...functionResponse, parts: [{ inlineData: { mimeType, data: 'AA==' } }] } }],
  };
};
const skip = { thoughtSignature: 'skip_thought_signature_validator' };
const schema = { type: 'object' };

describe('Gemini', () => {
  it.each<[string, string, object]>([
    ['a field it does not know', GEMINI, { contents: [hi], stream: true }],
    ['a first turn of the model', GEMINI, { contents: [{ role: 'model', parts: [{ text: 'x' }] }] }],
    ['two turns of the user', GEMINI, { contents: [hi, hi] }],
    ['a role of its own', GEMINI, { contents: [hi, { role: 'function', parts: [{ text: 'x' }] }] }],
    ['a call without an answer', GEMINI, { contents: [hi, called(skip), hi] }],
    ['an answer to another call', GEMINI, { contents: [hi, called(skip), answered('g')] }],
    [
      'an answer that is another city’s',
      GEMINI,
      { contents: [hi, called(skip), answered('f', { output: 'rain in Bergen' })] },
    ],
    ['text beside an answer', GEMINI, { contents: [hi, called(skip), answered('f', {}, [{ text: 'x' }])] }],
    ['a sound in an answer', GEMINI, { contents: [hi, called(skip), answeredWith('audio/wav')] }],
    ['a picture in an answer to generation 2', GEMINI_2, { contents: [hi, called(), answeredWith('image/png')] }],
    ['an unsigned call of generation 3', GEMINI, { contents: [hi, called(), answered()] }],
    ['a signature that it has not made', GEMINI, { contents: [hi, called({ thoughtSignature: 'AAAA' }), answered()] }],
    [
      '`$comment`',
      GEMINI,
      { contents: [hi], tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { $comment: 'x' } }] }] },
    ],
    ['a choice between no tools', GEMINI, { contents: [hi], toolConfig: { functionCallingConfig: { mode: 'AUTO' } } }],
    [
      'tools beside a schema in generation 2',
      GEMINI_2,
      {
        contents: [hi],
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
      },
    ],
    [
      'a level in generation 2',
      GEMINI_2,
      { contents: [hi], generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } },
    ],
  ])('refuses %s', async (_, path, body) => {
    expect(await post(path, body)).toMatchObject({ status: 400, text: expect.stringContaining('INVALID_ARGUMENT') });
  });

  it('takes what is right', async () => {
    expect((await post(GEMINI, { contents: [hi, called(skip), answered()] })).status).toBe(200);
    expect((await post(GEMINI, { contents: [hi, called(skip), answeredWith('image/png')] })).status).toBe(200);
    const done = { role: 'model', parts: [{ text: 'done' }] };
    expect((await post(GEMINI, { contents: [hi, called(), answered(), done, hi] })).status).toBe(200);
  });
});

const ask = { role: 'user', content: 'hi' };
const use = { type: 'tool_use', id: 't1', name: 'f', input: {} };
const result = { type: 'tool_result', tool_use_id: 't1', content: 'x' };
const bitmap = { type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'AA==' } };
const thought = { type: 'thinking', thinking: 'x', signature: claudeSignature('x') };
const claude = (more: object, ...messages: readonly object[]) => ({
  model: 'claude-sonnet-4-5-20250929',
  max_tokens: 2000,
  messages: [ask, ...messages],
  ...more,
});
const turn = (role: string, ...content: readonly object[]) => ({ role, content });
const thinking = { thinking: { type: 'enabled', budget_tokens: 1024 } };

describe('Claude', () => {
  it.each<[string, object]>([
    ['no max_tokens', claude({ max_tokens: undefined })],
    ['a field it does not know', claude({ seed: 1 })],
    ['a system message', claude({}, { role: 'system', content: 'x' })],
    ['empty text', claude({}, turn('assistant', { type: 'text', text: '' }))],
    ['a block it does not know', claude({}, turn('assistant', { type: 'image_url' }))],
    ['a call without a result', claude({}, turn('assistant', use), ask)],
    ['a thought in a result', claude({}, turn('assistant', use), turn('user', { ...result, content: [thought] }))],
    ['a picture of another form', claude({}, turn('assistant', use), turn('user', { ...result, content: [bitmap] }))],
    ['a result after text', claude({}, turn('assistant', use), turn('user', { type: 'text', text: 'x' }, result))],
    [
      'an id with a space',
      claude({}, turn('assistant', { ...use, id: 't 1' }), turn('user', { ...result, tool_use_id: 't 1' })),
    ],
    ['a signature that it has not made', claude({}, turn('assistant', { ...thought, signature: 'x' }))],
    ['a thought with another text', claude({}, turn('assistant', { ...thought, thinking: '' }))],
    ['a budget above max_tokens', claude({ thinking: { type: 'enabled', budget_tokens: 2000 } })],
    ['a forced tool beside thinking', claude({ ...thinking, tools: [], tool_choice: { type: 'any' } })],
    ['a loop of tools that has lost its thought', claude(thinking, turn('assistant', use), turn('user', result))],
    ['an open schema', claude({ output_config: { format: { type: 'json_schema', schema } } })],
  ])('refuses %s', async (_, body) => {
    expect(await post('/v1/messages', body)).toMatchObject({
      status: 400,
      text: expect.stringContaining('invalid_request_error'),
    });
  });

  it('takes what is right', async () => {
    const body = claude(thinking, turn('assistant', thought, use), turn('user', result));
    expect((await post('/v1/messages', body)).status).toBe(200);
  });

  it('has the version and not the model in the body on Vertex AI', async () => {
    const { model, ...body } = claude({ anthropic_version: 'vertex-2023-10-16' });
    expect((await post(VERTEX_CLAUDE, body)).status).toBe(200);
    expect((await post(VERTEX_CLAUDE, { ...body, model })).status).toBe(400);
    expect((await post(VERTEX_CLAUDE, { ...body, anthropic_version: undefined })).status).toBe(400);
  });

  const tool = (more: object) => ({ tools: [{ name: 'f', input_schema: schema, ...more }] });
  const marked = { type: 'text', text: 'x', cache_control: { type: 'ephemeral', scope: 'global' } };
  it.each([
    ['strict tools', tool({ strict: true }), 200],
    ['examples of input', tool({ input_examples: [{}] }), 200],
    ['callers of a tool', tool({ allowed_callers: ['direct'] }), 200],
    ['eager streams of input', tool({ eager_input_streaming: true }), 200],
    ['a schema', { output_config: { format: { type: 'json_schema', schema: { additionalProperties: false } } } }, 200],
    ['the scope of a cache marker', { system: [marked] }, 400],
    ['an edit that compacts', { context_management: { edits: [{ type: 'compact_20260112' }] } }, 400],
  ])('takes %s on Vertex AI never without a beta', async (_, more, direct) => {
    const { model: _model, ...body } = claude({ anthropic_version: 'vertex-2023-10-16', ...more });
    expect((await post(VERTEX_CLAUDE, body)).status).toBe(400);
    expect((await post('/v1/messages', claude(more))).status).toBe(direct);
  });
});

const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };

describe('An OpenAI-compatible server', () => {
  it.each<[string, object]>([
    ['a field it does not know', { thinking: {} }],
    ['a model with a slug', { model: '@own/m' }],
    ['blocks of thinking', { messages: [{ role: 'assistant', content: 'x', content_blocks: [] }] }],
    ['a call without a result', { messages: [ask, { role: 'assistant', tool_calls: [CALL] }, ask] }],
    [
      'a picture in a result',
      {
        messages: [
          ask,
          { role: 'assistant', tool_calls: [CALL] },
          { role: 'tool', tool_call_id: 'c1', content: [picture] },
        ],
      },
    ],
    [
      'a signature in a call',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ ...CALL, function: { ...CALL.function, thought_signature: 'x' } }] },
        ],
      },
    ],
    ['stream_options without a stream', { stream_options: { include_usage: true } }],
  ])('refuses %s', async (_, more) => {
    expect((await post('/v1/chat/completions', { model: 'm', messages: [ask], ...more })).status).toBe(400);
  });
});

it('refuses a request without the credential of the catalog entry', async () => {
  const response = await fetch(`${upstream.url}/v1/chat/completions`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(401);
});

describe('OpenAI’s Responses API', () => {
  const user = { role: 'user', content: 'hi' };
  const thought = { type: 'reasoning', summary: [], encrypted_content: OPENAI_BLOB };
  const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'c1', output: 'x' };
  const ask = (more: object) => post('/v1/responses', { model: 'gpt-5.5', input: [user], store: false, ...more });

  it.each<[string, object]>([
    ['a field it does not know', { reasoning_effort: 'high' }],
    ['a model with a slug', { model: '@openai/gpt-5.5' }],
    ['reasoning without an item after it', { input: [user, thought] }],
    ['reasoning before the user', { input: [thought, user] }],
    [
      'a blob that it has not made',
      { input: [user, { ...thought, encrypted_content: 'gh1.claude.t.e30' }, call, output] },
    ],
    ['an item of a type that it does not know', { input: [user, { type: 'thinking', text: 'x' }] }],
    ['a compaction that does not come last', { input: [{ type: 'compaction_trigger' }, user] }],
    ['a reference to an item that it does not keep', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['a call without an output', { input: [user, call, user] }],
    ['an output without a call', { input: [user, output] }],
    ['an output of another kind of call', { input: [user, call, { ...output, type: 'custom_tool_call_output' }] }],
    ['a tool of a type that it does not know', { tools: [{ type: 'web_fetch', name: 'f' }] }],
    ['a tool of chat completions', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['an unknown value of include', { include: ['thoughts'] }],
    ['an unknown effort', { reasoning: { effort: 'ultra' } }],
  ])('refuses %s', async (_, more) => {
    expect(await ask(more)).toMatchObject({ status: 400 });
  });

  it('answers a whole turn, and finds the tools of items', async () => {
    const tools = [
      { type: 'namespace', name: 'n', description: 'd', tools: [{ type: 'function', name: 'f', parameters: {} }] },
    ];
    const extra = { type: 'additional_tools', role: 'developer', tools };
    expect(await ask({ input: [extra, user, thought, call, output] })).toMatchObject({ status: 200 });
  });
});
