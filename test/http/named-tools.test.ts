import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Functions that ask for a provider's own tool, and image URLs that pass, at the vendors' own APIs. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startUpstream(({ url }, res) => {
    if (!url.includes('/messages')) {
      const annotation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 5 };
      const annotations = [{ type: 'url_citation', url_citation: annotation }];
      const message = { role: 'assistant', content: 'Four.', annotations };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return json(res, { id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices });
    }
    const where = { type: 'web_search_result_location', url: 'https://a.example', title: 'A' };
    const citations = [{ ...where, cited_text: '4', encrypted_index: 'i' }];
    return json(res, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [{ type: 'text', text: 'Four.', citations }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    });
  });
  const shared = { base_url: upstream.url, allow_insecure: true, api_key: '${env:NONE:-upstream-secret-key}' };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'azure', provider: 'azure-openai', ...shared },
        { slug: 'claude', provider: 'anthropic', ...shared },
      ],
    },
    gateway: { pass: { provider: '@claude', remote_media: { pass: true } } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const messages = [{ role: 'user' as const, content: 'Two and two?' }];
const tools = [{ type: 'function' as const, function: { name: 'web_search' } }];
const client = (headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0, defaultHeaders: headers });
const seen = () => upstream.seen.at(-1)!.json;

it.each([
  ['@claude/claude-sonnet-4-5', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['@azure/gpt-5-search-api', { web_search_options: {} }],
])('a bare web_search is the own search of %s, with citations', async (model, expected) => {
  const { choices } = await client().chat.completions.create({ model, messages, tools, max_tokens: 100 });
  expect(seen()).toMatchObject(expected);
  expect(choices[0]!.message.annotations).toMatchObject([
    { url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 5 } },
  ]);
});

it('a bare web_search is a reported loss at OpenAI’s other models', async () => {
  const request = { model: '@azure/gpt-4o', messages, tools };
  const { response } = await client().chat.completions.create(request).withResponse();
  expect(response.headers.get('x-gateway-dropped-params')).toBe('tools[0]');
  expect(seen()).not.toHaveProperty('tools');
  const strict = client({ 'x-gateway-strict-params': 'true' }).chat.completions.create(request);
  await expect(strict).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'tools[0]' });
});

it.each(['@claude/claude-sonnet-4-5', '@azure/gpt-4o'])('computer use is refused with a hint at %s', async (model) => {
  const before = upstream.seen.length;
  const parameters = { environment: 'ENVIRONMENT_BROWSER' };
  const computer = [{ type: 'function' as const, function: { name: 'computer_use', parameters } }];
  const answer = client().chat.completions.create({ model, messages, tools: computer, max_tokens: 100 });
  await expect(answer).rejects.toMatchObject({ status: 400, param: 'tools[0]' });
  await expect(answer).rejects.toThrow('computer-use preview');
  expect(upstream.seen.length).toBe(before);
});

it('the URL of an image passes to Anthropic only where the config says so', async () => {
  const image = { type: 'image_url' as const, image_url: { url: 'https://x.example/a.png' } };
  const request = { messages: [{ role: 'user' as const, content: [image] }], max_tokens: 100 };
  await client({ 'x-gateway-config': 'pass' }).chat.completions.create({ model: 'claude-sonnet-4-5', ...request });
  const source = { type: 'url', url: 'https://x.example/a.png' };
  expect(seen()).toMatchObject({ messages: [{ content: [{ type: 'image', source }] }] });
  const refused = client().chat.completions.create({ model: '@claude/claude-sonnet-4-5', ...request });
  await expect(refused).rejects.toMatchObject({ status: 400, param: 'messages[0].content[0]' });
});
