import { afterEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import type { ServerResponse } from 'node:http';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const chunk = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

/** A gateway whose time stands still, before an upstream that says one word and then waits for the test. */
async function start(): Promise<{
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  clock: ReturnType<typeof createFakeClock>;
  reply: () => ServerResponse;
}> {
  let reply: ServerResponse | undefined;
  const upstream = await startUpstream((_, res) => {
    reply = res;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk('one'));
  });
  const clock = createFakeClock();
  const gateway = await startTestGateway(
    {
      server: { timeouts: { idle: '10m', total: '1h' } },
      catalog: {
        providers: [{ slug: 'own', provider: 'openai', base_url: `${upstream.url}/v1`, allow_insecure: true }],
      },
    },
    { clock },
  );
  open.push(gateway, upstream);
  return { gateway, upstream, clock, reply: () => reply! };
}

async function ask(url: string, path: string): Promise<ReadableStreamDefaultReader<string>> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
    body: JSON.stringify({ model: '@own/m', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'x' }] }),
  });
  return answer.body!.pipeThrough(new TextDecoderStream()).getReader();
}

async function readUntil(reader: ReadableStreamDefaultReader<string>, piece: string): Promise<string> {
  let text = '';
  while (!text.includes(piece)) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  return text;
}

describe('a stream whose model falls silent', () => {
  it.each([
    ['/v1/chat/completions', ': ping\n\n', 'data: [DONE]'],
    ['/v1/messages', 'event: ping\ndata: {"type":"ping"}\n\n', 'event: message_stop'],
  ])('is kept alive on %s', async (path, ping, end) => {
    const { gateway, clock, reply } = await start();
    const reader = await ask(gateway.url, path);
    await readUntil(reader, 'one');
    await clock.advance(15_000);
    await clock.advance(15_000);
    expect(await readUntil(reader, ping)).toBe(ping);
    reply().end(`${chunk('', 'stop')}data: [DONE]\n\n`);
    expect(await readUntil(reader, end)).not.toContain('error');
    await reader.cancel();
  });

  it.each([
    ['a JSON array, by white space between its elements', '', '\r\n', (text: string): unknown => JSON.parse(text)],
    ['server-sent events', '?alt=sse', ': ping\n\n', (text: string) => text.split('\r\n\r\n').slice(0, -1)],
  ])('is kept alive in Gemini’s API as %s', async (_, query, ping, elements) => {
    const { gateway, clock, reply } = await start();
    const answer = await fetch(`${gateway.url}/v1beta/models/%40own%2Fm:streamGenerateContent${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': KEY },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'x' }] }] }),
    });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    const first = await readUntil(reader, 'one');
    await clock.advance(15_000);
    await clock.advance(15_000);
    const { value: second } = await reader.read();
    expect(second).toBe(ping);
    reply().end(`${chunk('two', 'stop')}data: [DONE]\n\n`);
    const whole = first + second + (await readUntil(reader, 'no such text'));
    expect(whole).toContain('two');
    expect(elements(whole)).toHaveLength(whole.match(/"candidates"/g)!.length);
  });

  it('hears nothing between words that come in time', async () => {
    const { gateway, clock, reply } = await start();
    const reader = await ask(gateway.url, '/v1/chat/completions');
    await readUntil(reader, 'one');
    for (const word of ['two', 'three', 'four']) {
      await clock.advance(14_000);
      reply().write(chunk(word));
      expect(await readUntil(reader, word)).not.toContain('ping');
    }
    reply().end(`${chunk('', 'stop')}data: [DONE]\n\n`);
    expect(await readUntil(reader, '[DONE]')).not.toContain('ping');
    await reader.cancel();
  });
});
