import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { undocumentedField } from '../support/openai-api.ts';
import { json, openaiChunk, openaiReply, sse, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Fields beyond OpenAI's API, before a server that refuses what OpenAI does not document. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

const EMBEDDINGS = ['model', 'input', 'dimensions', 'encoding_format', 'user'];
const IMAGES = ['model', 'prompt', 'n', 'size', 'quality', 'user'];

beforeAll(async () => {
  upstream = await startUpstream(async ({ url, json: body }, res) => {
    const other = (known: readonly string[]) => Object.keys(body).find((field) => !known.includes(field));
    const unknown = url.includes('/embeddings')
      ? other(EMBEDDINGS)
      : url.includes('/images')
        ? other(IMAGES)
        : undocumentedField(body);
    if (unknown !== undefined && !url.startsWith('/lenient')) {
      const message = `Unknown parameter: '${unknown}'.`;
      return json(
        res,
        { error: { message, type: 'invalid_request_error', param: unknown, code: 'unknown_parameter' } },
        400,
      );
    }
    if (url.includes('/embeddings'))
      return json(res, { object: 'list', data: [{ embedding: [1], index: 0 }], model: 'm' });
    if (url.includes('/images')) return json(res, { created: 1, data: [{ b64_json: 'YQ==' }] });
    if (body.stream === true) return sse(res, [openaiChunk({ content: 'Hi' }, 'stop'), '[DONE]']);
    return json(res, openaiReply('Hi'));
  });
  const shared = { allow_insecure: true, api_key: '${env:NONE:-upstream-secret-key}' };
  const own = { provider: 'openai', ...shared };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'azure', provider: 'azure-openai', base_url: upstream.url, ...shared },
        { slug: 'strict', ...own, base_url: `${upstream.url}/v1`, extensions: 'drop' },
        { slug: 'vllm', ...own, base_url: `${upstream.url}/lenient/v1` },
        { slug: 'some', ...own, base_url: `${upstream.url}/lenient/v1`, extensions: ['top_k', 'task_type'] },
      ],
    },
    prompts: {
      cached: {
        versions: {
          1: {
            model: '@azure/gpt-5',
            messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', signature: 's' }] }],
          },
        },
        labels: { production: 1 },
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const ask = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
    body: JSON.stringify(body),
  });
const seen = () => upstream.seen.at(-1)!.json;
const lossesOf = (response: Response) => response.headers.get('x-gateway-dropped-params')?.split(',') ?? [];

const marker = { type: 'ephemeral', ttl: '1h' };
const everything = {
  thinking: { type: 'enabled', budget_tokens: 2000 },
  top_k: 40,
  labels: { team: 'a' },
  safety_settings: [{ category: 'c', threshold: 't' }],
  image_config: { aspect_ratio: '1:1' },
  anthropic_beta: ['b'],
  anthropic_version: 'v',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: marker }] },
    {
      role: 'user',
      cache_control: marker,
      content: [
        { type: 'text', text: 'Look.', signature: 's', cache_control: marker },
        { type: 'image_url', image_url: { url: 'https://a.example/b', mime_type: 'image/png', format: 'image/png' } },
      ],
    },
    {
      role: 'assistant',
      content_blocks: [
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'text', text: 'I see.' },
      ],
      content_parts: [{ type: 'text', text: 'I see.' }],
      reasoning_content: 't',
      tool_calls: [
        {
          id: 'c',
          type: 'function',
          thought_signature: 's',
          cache_control: marker,
          extra_content: { google: { thought_signature: 's' } },
          function: { name: 'f', arguments: '{}', thought_signature: 's' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c', content: 'r', cache_control: marker },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 't', signature: 's' }] },
    { role: 'user', content: 'And?' },
  ],
  tools: [
    { type: 'function', function: { name: 'f', cache_control: marker }, cache_control: marker },
    { type: 'function', function: { name: 'web_search' } },
    { type: 'url_context' },
  ],
};
const LOSSES = [
  'thinking',
  'top_k',
  'labels',
  'safety_settings',
  'image_config',
  'anthropic_beta',
  'anthropic_version',
  'messages[0].content[0].cache_control',
  'messages[1].content[0].signature',
  'messages[1].content[0].cache_control.ttl',
  'messages[1].content[1].image_url.mime_type',
  'messages[1].content[1].image_url.format',
  'messages[1].cache_control.ttl',
  'messages[2].content_blocks',
  'messages[2].content_parts',
  'messages[2].reasoning_content',
  'messages[2].tool_calls[0].thought_signature',
  'messages[2].tool_calls[0].extra_content',
  'messages[2].tool_calls[0].cache_control',
  'messages[2].tool_calls[0].function.thought_signature',
  'messages[3].cache_control',
  'messages[4].content[0]',
  'tools[0].cache_control',
  'tools[0].function.cache_control',
  'tools[1]',
  'tools[2]',
];

describe.each(['@azure/gpt-5', '@strict/gpt-5'])('a request with every extension for %s', (model) => {
  it.each([false, true])('is answered, and each loss is recorded: stream %s', async (stream) => {
    const response = await ask('/v1/chat/completions', { model, stream, ...everything });
    expect({ status: response.status, text: await response.text() }).toMatchObject({
      status: 200,
      text: expect.stringContaining('Hi') as string,
    });
    expect(seen().reasoning_effort).toBe('medium');
    expect(seen().messages).toMatchObject([{}, {}, { content: 'I see.' }, {}, { content: '' }, {}]);
    expect(lossesOf(response)).toEqual(LOSSES);
    const id = response.headers.get('x-gateway-request-id');
    await until(() => gateway.logs.some((line) => line['request_id'] === id), 'the access line is written');
    const record = await fetch(`${gateway.gateway.admin?.url}/admin/v1/requests/${id}`);
    // A record names the first ones.
    const losses = LOSSES.slice(0, 20).map((param) => expect.stringContaining(`${param}: `) as unknown);
    expect(await record.json()).toMatchObject({ attempts: [{ losses }] });
  });

  it('is refused where losses are', async () => {
    const before = upstream.seen.length;
    const response = await ask('/v1/chat/completions', { model, ...everything }, { 'x-gateway-strict-params': 'true' });
    expect(await response.json()).toMatchObject({ error: { code: 'unsupported_parameter' } });
    expect([response.status, upstream.seen.length]).toEqual([400, before]);
  });
});

it('a server of your own gets every extension, and the listed ones alone where the entry has a list', async () => {
  const body = { ...everything, model: '@vllm/glm' };
  const kept = await ask('/v1/chat/completions', body);
  expect([kept.status, lossesOf(kept)]).toEqual([200, []]);
  expect(seen()).toEqual({ ...everything, model: 'glm' });
  const some = await ask('/v1/chat/completions', { ...body, model: '@some/glm' });
  expect(some.status).toBe(200);
  expect(seen()).toMatchObject({ top_k: 40 });
  expect(undocumentedField(seen())).toBe('top_k');
});

it('a Messages request for OpenAI has no top_k and no thinking of a model that has none', async () => {
  const request = { max_tokens: 3000, top_k: 5, thinking: { type: 'enabled', budget_tokens: 2000 } };
  const messages = [{ role: 'user', content: 'Hi' }];
  const response = await ask('/v1/messages', { ...request, messages, model: '@azure/gpt-4o' });
  expect([response.status, lossesOf(response).toSorted()]).toEqual([200, ['thinking', 'top_k']]);
  await ask('/v1/messages', { ...request, messages, model: '@vllm/qwen' });
  expect(seen()).toMatchObject({ top_k: 5, reasoning_effort: 'medium' });
});

it('messages of a prompt lose what the target does not take', async () => {
  const response = await ask('/v1/prompts/cached@production/completions', {});
  expect([response.status, lossesOf(response)]).toEqual([200, ['messages[0].content[0].signature']]);
});

it.each([
  ['/v1/embeddings', { input: 'a', task_type: 'RETRIEVAL_QUERY', autoTruncate: false }, ['task_type', 'autoTruncate']],
  ['/v1/images/generations', { prompt: 'a', aspectRatio: '1:1', seed: 1 }, ['aspectRatio', 'seed']],
])('%s loses at OpenAI what Google’s models take', async (path, body, losses) => {
  const response = await ask(path, { model: '@azure/m', ...body });
  expect([response.status, lossesOf(response).toSorted()]).toEqual([200, losses.toSorted()]);
  const strict = await ask(path, { model: '@azure/m', ...body }, { 'x-gateway-strict-params': 'true' });
  expect(strict.status).toBe(400);
  const own = await ask(path, { model: '@vllm/m', ...body });
  expect([own.status, lossesOf(own)]).toEqual([200, []]);
  expect(seen()).toEqual({ model: 'm', ...body });
});

it('a field that only the upstream refuses is its own 400', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const response = await ask('/v1/chat/completions', { model: '@azure/gpt-5', messages, min_p: 0.1 });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'min_p' } }]);
});
