import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Models that write their chain of thought into the answer, read with the clients that applications use. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
const ANSWER = '<think>\nTwo and two.\n</think>\n\nFour.';

beforeAll(async () => {
  upstream = await startUpstream((request, res) => {
    const { model, stream } = request.json as { model: string; stream?: boolean };
    const frame = { id: 'c1', created: 1, model };
    if (!stream) {
      const choice = { index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' };
      return json(res, { ...frame, object: 'chat.completion', choices: [choice] });
    }
    res.setHeader('content-type', 'text/event-stream');
    const write = (delta: object, reason: string | null = null) => {
      const choices = [{ index: 0, delta, finish_reason: reason }];
      res.write(`data: ${JSON.stringify({ ...frame, object: 'chat.completion.chunk', choices })}\n\n`);
    };
    write({ role: 'assistant', content: '' });
    for (const piece of ANSWER.match(/[^]{1,3}/g)!) write({ content: piece });
    write({}, 'stop');
    res.end('data: [DONE]\n\n');
  });
  const entry = { provider: 'openai', base_url: `${upstream.url}/v1`, allow_insecure: true };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'known', ...entry },
        { slug: 'own', ...entry, inline_thinking: ['My-*'] },
        { slug: 'none', ...entry, inline_thinking: [] },
      ],
    },
    gateway: { cached: { provider: '@known', cache: { mode: 'exact' } } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const LAX = { 'x-gateway-strict-open-ai-compliance': 'false' };
const messages = [{ role: 'user' as const, content: 'Two and two?' }];
const openai = (headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0, defaultHeaders: headers });

async function plain(model: string, headers?: Record<string, string>): Promise<object> {
  const { choices } = await openai(headers).chat.completions.create({ model, messages });
  return choices[0]!.message;
}

async function streamed(model: string, headers?: Record<string, string>): Promise<string> {
  let content = '';
  for await (const { choices } of await openai(headers).chat.completions.create({ model, messages, stream: true }))
    content += choices[0]?.delta.content ?? '';
  return content;
}

describe('a chain of thought in the answer', () => {
  it.each(['@known/deepseek-r1', '@known/Qwen/Qwen3-32B', '@own/my-model'])(
    'does not reach a strict client of %s',
    async (model) => {
      expect(await plain(model)).toMatchObject({ content: 'Four.' });
      expect(await streamed(model)).toBe('Four.');
    },
  );

  it('reaches other clients joined to the answer, and apart from it in content_blocks', async () => {
    expect(await streamed('@known/deepseek-r1', LAX)).toBe('Two and two.\r\n\r\nFour.');
    expect(await plain('@known/deepseek-r1', LAX)).toMatchObject({
      content: 'Two and two.\r\n\r\nFour.',
      content_blocks: [
        { type: 'thinking', thinking: 'Two and two.' },
        { type: 'text', text: 'Four.' },
      ],
    });
  });

  it.each(['@none/deepseek-r1', '@own/deepseek-r1', '@known/gpt-4o'])('stays in the answer of %s', async (model) => {
    expect(await plain(model)).toMatchObject({ content: ANSWER });
    expect(await streamed(model)).toBe(ANSWER);
  });

  it('is a thinking block for a client of the Messages API', async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
    const request = { model: '@known/deepseek-r1', max_tokens: 2048, thinking, messages };
    const expected = [
      { type: 'thinking', thinking: 'Two and two.' },
      { type: 'text', text: 'Four.' },
    ];
    expect((await client.messages.create(request)).content).toMatchObject(expected);
    expect((await client.messages.stream(request).finalMessage()).content).toMatchObject(expected);
  });

  it('is the same in a cached reply of the other form', async () => {
    const headers = { ...LAX, 'x-gateway-config': 'cached' };
    const first = await plain('deepseek-r1', headers);
    const before = upstream.seen.length;
    expect(await streamed('deepseek-r1', headers)).toBe('Two and two.\r\n\r\nFour.');
    expect(await plain('deepseek-r1', headers)).toEqual(first);
    expect(upstream.seen.length).toBe(before);
  });
});
