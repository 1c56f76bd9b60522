import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { startPair, type PairSetup } from '../support/pair.ts';
import {
  anthropicReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  type Script,
  type ScriptedUpstream,
  type SeenRequest,
} from '../support/upstream.ts';

const KEYS = { a: 'key-a-0123456789', b: 'key-b-0123456789' };
const SEMANTIC = {
  cache: { mode: 'semantic', embeddings: '@openai/vectors', threshold: 0.9, max_age: 60, timeout: '5s' },
};

/** The vector of a text: texts with the same first letter are near. */
const vectorOf = (text: string): number[] => [text.startsWith('h') ? 1 : 0.05, 0.1, text.startsWith('h') ? 0.05 : 1];

const vectorsFor = ({ json: body }: SeenRequest): object => {
  const input = body['input'] as readonly string[];
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }));
  return { object: 'list', data, model: 'vectors', usage: { prompt_tokens: 7, total_tokens: 7 } };
};

/** Answers with the number of the chat request, and with vectors. */
function counting(onEmbeddings: Script = (request, res) => json(res, vectorsFor(request))): Script {
  let answers = 0;
  return (request, res, index) => {
    if (request.url.includes('/embeddings')) return onEmbeddings(request, res, index);
    answers += 1;
    if (request.url.includes('/messages')) return json(res, anthropicReply(`answer ${answers}`));
    if (request.json['stream'] !== true) return json(res, openaiReply(`answer ${answers}`));
    return sse(res, [
      openaiChunk({ role: 'assistant', content: `answer ${answers}` }),
      openaiChunk({}, 'stop'),
      'data: [DONE]\n\n',
    ]);
  };
}

interface Started {
  readonly upstream: ScriptedUpstream;
  readonly gateway: TestGateway;
  readonly ask: (text: string, more?: AskOptions) => Promise<Answer>;
  readonly metrics: () => Promise<string>;
}

interface AskOptions {
  readonly key?: keyof typeof KEYS;
  readonly headers?: Record<string, string>;
  readonly body?: Record<string, unknown>;
  readonly messages?: OpenAI.ChatCompletionMessageParam[];
}

interface Answer {
  readonly status: string | null;
  readonly text: string;
}

async function start(
  script: Script = counting(),
  config: object = SEMANTIC,
  server: object = {},
  options: PairSetup['options'] = {},
): Promise<Started> {
  const { upstream, gateway } = await startPair(script, {
    options,
    server: { default_config: 'near', ...server },
    keys: {
      keys: Object.entries(KEYS).map(([id, key]) => ({ id, key: `\${env:NONE:-${key}}`, inline_configs: true })),
    },
    gateway: { near: config },
  });
  return {
    upstream,
    gateway,
    async ask(text, { key = 'a', headers = {}, body = {}, messages } = {}) {
      const client = new OpenAI({ apiKey: KEYS[key], baseURL: `${gateway.url}/v1`, maxRetries: 0 });
      const { data, response } = await client.chat.completions
        .create(
          { model: '@openai/m', messages: messages ?? [{ role: 'user', content: text }], ...body, stream: false },
          { headers },
        )
        .withResponse();
      return { status: response.headers.get('x-gateway-cache-status'), text: data.choices[0]?.message.content ?? '' };
    },
    metrics: async () => (await fetch(`${gateway.statusUrl}/metrics`)).text(),
  };
}

const embeddingsIn = ({ seen }: ScriptedUpstream): readonly SeenRequest[] =>
  seen.filter(({ url }) => url.includes('/embeddings'));

describe('a near text', () => {
  it('gets the reply of the first, with one call for both vectors', async () => {
    const { ask, upstream, metrics, gateway } = await start();
    expect(await ask('how are you')).toEqual({ status: 'MISS', text: 'answer 1' });
    expect(embeddingsIn(upstream)).toEqual([]);
    expect(await ask('how are you doing')).toEqual({ status: 'SEMANTIC_HIT', text: 'answer 1' });
    expect(embeddingsIn(upstream).map((call) => call.json)).toEqual([
      { model: 'vectors', input: ['how are you doing', 'how are you'], encoding_format: 'float' },
    ]);
    expect(await ask('how are you')).toEqual({ status: 'HIT', text: 'answer 1' });
    const line = gateway.logs.find((one) => one['cache'] === 'semantic_hit');
    expect(line).toMatchObject({ semantic: { result: 'hit', similarity: 1 } });
    const text = await metrics();
    expect(text).toContain('gatehouse_cache_requests_total{mode="semantic",result="semantic_hit"} 1\n');
    expect(text).toContain('gatehouse_cache_embeddings_total{provider="openai",result="success"} 1\n');
    expect(text).toMatch(
      /gatehouse_tokens_total\{provider="openai",request_model="vectors",operation="embeddings",type="input",key_id="[^"]*"\} 7\n/,
    );
    expect(text).toContain('gatehouse_cache_texts 1\n');
    expect(text).toMatch(/gatehouse_cache_texts_size_bytes \d{3,4}\n/);
    expect(text).toMatch(/gatehouse_upstream_attempts_total\{[^}]*\} 1\n/);
  });

  it('is found by its vector alone later: only the new text goes to the model', async () => {
    const { ask, upstream } = await start();
    for (const text of ['how are you', 'what is this', 'how is life', 'when is lunch']) await ask(text);
    expect(embeddingsIn(upstream).map((call) => call.json['input'])).toEqual([
      ['what is this', 'how are you'],
      ['how is life'],
      ['when is lunch'],
    ]);
    expect(await ask('where is dinner')).toEqual({ status: 'SEMANTIC_HIT', text: 'answer 2' });
  });

  it('answers a stream from a plain reply and a plain request from a stream', async () => {
    const { ask, gateway } = await start();
    const streamed = async (text: string): Promise<string> => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEYS.a}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: '@openai/m', stream: true, messages: [{ role: 'user', content: text }] }),
      });
      return `${response.headers.get('x-gateway-cache-status')} ${await response.text()}`;
    };
    expect(await streamed('how are you')).toContain('MISS');
    expect(await ask('how are they')).toEqual({ status: 'SEMANTIC_HIT', text: 'answer 1' });
    expect(await streamed('how is that')).toMatch(/^SEMANTIC_HIT data: .*answer 1/s);
  });

  it('gets a hit from Claude through the Messages API', async () => {
    const { gateway } = await start();
    const client = new Anthropic({ apiKey: KEYS.a, baseURL: gateway.url, maxRetries: 0 });
    const ask = async (text: string): Promise<string | null> => {
      const content: Anthropic.TextBlockParam[] = [
        { type: 'text', text: 'Context' },
        { type: 'text', text },
      ];
      const { response } = await client.messages
        .create({ model: '@claude/c', max_tokens: 10, messages: [{ role: 'user', content }] })
        .withResponse();
      return response.headers.get('x-gateway-cache-status');
    };
    expect([await ask('how are you'), await ask('how is it going')]).toEqual(['MISS', 'SEMANTIC_HIT']);
  });
});

describe('a request that differs otherwise', () => {
  it.each<[string, AskOptions]>([
    ['in the key', { key: 'b' }],
    ['in a parameter', { body: { temperature: 0 } }],
    ['in the model', { body: { model: '@openai/other' } }],
    ['in the tools', { body: { tools: [{ type: 'function', function: { name: 'f' } }] } }],
    [
      'in the system message',
      {
        messages: [
          { role: 'system', content: 's' },
          { role: 'user', content: 'how is it' },
        ],
      },
    ],
    ['in the namespace', { headers: { 'x-gateway-cache-namespace': 'n' } }],
    ['in the compliance flag', { headers: { 'x-gateway-strict-open-ai-compliance': 'false' } }],
    ['in a stated fact', { messages: [{ role: 'user', content: 'how are 2 you' }] }],
  ])('%s is a miss without a call for vectors', async (_, more) => {
    const { ask, upstream } = await start();
    await ask('how are you');
    expect(await ask('how is it', more)).toMatchObject({ status: 'MISS', text: 'answer 2' });
    expect(embeddingsIn(upstream)).toEqual([]);
  });

  it('in the text, too far, is a miss that names the similarity', async () => {
    const { ask, gateway } = await start();
    await ask('how are you');
    expect(await ask('what is it')).toMatchObject({ status: 'MISS' });
    expect(gateway.logs.at(-1)).toMatchObject({ semantic: { result: 'below_threshold', similarity: 0.1086 } });
  });

  it('in the key shares replies where the config says so', async () => {
    const { ask } = await start(counting(), { cache: { ...SEMANTIC.cache, scope: 'config' } });
    await ask('how are you');
    expect(await ask('how is it', { key: 'b' })).toMatchObject({ status: 'SEMANTIC_HIT' });
  });
});

describe('vectors that do not come', () => {
  const bad: readonly [string, Script, string][] = [
    ['a refusal', (_, res) => json(res, { error: { message: 'no' } }, 500), 'upstream_error'],
    ['a page', (_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), 'upstream_error'],
    [
      'too few vectors',
      (_, res) => json(res, { object: 'list', data: [{ index: 0, embedding: [1] }] }),
      'unreadable_reply',
    ],
    [
      'vectors of text',
      (_, res) => json(res, { object: 'list', data: [0, 1].map((index) => ({ index, embedding: ['a'] })) }),
      'unreadable_reply',
    ],
    [
      'vectors of zeros',
      (_, res) => json(res, { object: 'list', data: [0, 1].map((index) => ({ index, embedding: [0, 0] })) }),
      'unreadable_reply',
    ],
    [
      'vectors of two lengths',
      (_, res) =>
        json(res, { object: 'list', data: [0, 1].map((index) => ({ index, embedding: index ? [1] : [1, 0] })) }),
      'unreadable_reply',
    ],
    [
      'one vector twice',
      (_, res) => json(res, { object: 'list', data: [0, 0].map((index) => ({ index, embedding: [1] })) }),
      'unreadable_reply',
    ],
    ['a cut connection', (_, res) => void res.destroy(), 'connection_failed'],
  ];
  it.each(bad)('are a miss and no error: %s', async (_, script, reason) => {
    const { ask, gateway, metrics } = await start(counting(script));
    await ask('how are you');
    expect(await ask('how is it')).toEqual({ status: 'MISS', text: 'answer 2' });
    expect(gateway.logs.at(-1)).toMatchObject({ status: 200, retries: 0, semantic: { result: 'failed', reason } });
    expect(await metrics()).toContain('gatehouse_cache_embeddings_total{provider="openai",result="failed"} 1\n');
  });

  it.each([
    ['whose own timer comes first', (timers: readonly (() => void)[]) => timers.toReversed()],
    ['whose own timer comes last', (timers: readonly (() => void)[]) => timers],
  ])('in time are a miss after the timeout of the cache: a call %s', async (_, ordered) => {
    const config = { cache: { ...SEMANTIC.cache, timeout: '59s' } };
    const waiting = new Set<() => void>();
    let ahead = 0;
    const clock = {
      ...systemClock,
      now: () => systemClock.now() + ahead,
      after(ms: number, task: () => void) {
        if (ms <= 50_000 || ms > 59_000) return systemClock.after(ms, task);
        waiting.add(task);
        return () => void waiting.delete(task);
      },
    };
    const passed: Script = async () => {
      ahead += 59_000;
      for (const task of ordered([...waiting])) {
        if (waiting.has(task)) task();
        await setImmediate();
      }
    };
    const { ask, upstream, gateway } = await start(counting(passed), config, {}, { clock });
    await ask('how are you');
    expect(await ask('how is it')).toMatchObject({ status: 'MISS', text: 'answer 2' });
    expect(gateway.logs.at(-1)).toMatchObject({ semantic: { result: 'late' } });
    const { overhead_ms: overhead, duration_ms: duration } = gateway.logs.at(-1) as Record<string, number>;
    expect(duration! - overhead!).toBeGreaterThanOrEqual(59_000);
    await expect.poll(() => embeddingsIn(upstream)[0]?.aborted).toBe(true);
  });

  it('leave the target healthy', async () => {
    const config = { ...SEMANTIC, circuit_breaker: { failures: 1, min_requests: 1, cooldown: '60s' } };
    const { ask } = await start(
      counting((_, res) => json(res, {}, 503)),
      config,
    );
    for (const text of ['how are you', 'how is it', 'how was it'])
      expect(await ask(text)).toMatchObject({ status: 'MISS' });
  });
});

describe('a reply', () => {
  it.each<[string, object]>([
    [
      'with a tool call',
      {
        message: {
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        finish_reason: 'stop',
      },
    ],
    ['that was cut by its limit', { message: { content: 'a' }, finish_reason: 'length' }],
    ['that a filter stopped', { message: { content: 'a' }, finish_reason: 'content_filter' }],
    ['that refuses', { message: { content: null, refusal: 'no' }, finish_reason: 'stop' }],
  ])('%s answers no other text', async (_, choice) => {
    const { ask, upstream } = await start((request, res) =>
      request.url.includes('/embeddings')
        ? json(res, vectorsFor(request))
        : json(res, { ...openaiReply('x'), choices: [{ index: 0, ...choice }] }),
    );
    await ask('how are you');
    expect(await ask('how is it')).toMatchObject({ status: 'MISS' });
    expect(embeddingsIn(upstream)).toEqual([]);
  });
});

describe('the call for vectors', () => {
  it('carries none of the headers of the request', async () => {
    const { ask, upstream } = await start(counting(), { ...SEMANTIC, forward_headers: ['x-tenant'] });
    const headers = { 'x-tenant': 't', 'anthropic-beta': 'b', 'x-gateway-provider': '@claude' };
    await ask('how are you', { headers });
    await ask('how is it', { headers });
    const [call] = embeddingsIn(upstream);
    expect(call?.headers).not.toHaveProperty('x-tenant');
    expect(call?.headers).not.toHaveProperty('anthropic-beta');
    expect(JSON.stringify(call?.headers)).not.toContain(KEYS.a);
  });

  it('of a config in a header has the rights of the key', async () => {
    const { ask, upstream, gateway } = await start();
    const inline = (embeddings: string): AskOptions => ({
      headers: { 'x-gateway-config': JSON.stringify({ cache: { ...SEMANTIC.cache, embeddings } }) },
    });
    await ask('how are you', inline('@nobody/x'));
    expect(await ask('how is it', inline('@nobody/x'))).toMatchObject({ status: 'MISS' });
    expect(gateway.logs.at(-1)).toMatchObject({ semantic: { result: 'failed', reason: 'unknown_provider' } });
    expect(embeddingsIn(upstream)).toEqual([]);
  });
});
