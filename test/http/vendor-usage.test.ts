import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, sse, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Counts as vendors with OpenAI's API were recorded to send them, at each door. */
interface Vendor {
  readonly model: string;
  readonly usage: object;
  /** USD for a million tokens at the vendor. */
  readonly usd: { readonly input: number; readonly cached?: number; readonly output: number };
  readonly expected: {
    readonly input: number;
    readonly cached: number;
    /** Reasoning included. */
    readonly output: number;
    readonly reasoning: number;
    /** The vendor's own bill, where it names one. */
    readonly cost: string;
  };
}

const VENDORS: Readonly<Record<string, Vendor>> = {
  // `cost_in_usd_ticks` are of 1e-10 USD: 0.00016415 USD.
  xAI: {
    model: 'grok-3-mini',
    usage: {
      prompt_tokens: 12,
      completion_tokens: 2,
      total_tokens: 334,
      prompt_tokens_details: { text_tokens: 12, audio_tokens: 0, image_tokens: 0, cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 320, audio_tokens: 0 },
      num_sources_used: 0,
      cost_in_usd_ticks: 1_641_500,
    },
    usd: { input: 0.3, cached: 0.075, output: 0.5 },
    expected: { input: 12, cached: 2, output: 322, reasoning: 320, cost: '0.00016415' },
  },
  'Google’s endpoint': {
    model: 'gemini-2.5-pro',
    usage: { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 },
    usd: { input: 1.25, output: 10 },
    expected: { input: 66, cached: 0, output: 34, reasoning: 0, cost: '0.0004225' },
  },
  Kimi: {
    model: 'kimi-k2.6',
    usage: {
      prompt_tokens: 20,
      completion_tokens: 30,
      total_tokens: 50,
      cached_tokens: 10,
      completion_tokens_details: { reasoning_tokens: 22 },
    },
    usd: { input: 1, cached: 0.1, output: 4 },
    expected: { input: 20, cached: 10, output: 30, reasoning: 22, cost: '0.000131' },
  },
  DeepSeek: {
    model: 'deepseek-chat',
    usage: {
      prompt_tokens: 50,
      completion_tokens: 5,
      total_tokens: 55,
      prompt_cache_hit_tokens: 40,
      prompt_cache_miss_tokens: 10,
    },
    usd: { input: 1, cached: 0.1, output: 4 },
    expected: { input: 50, cached: 40, output: 5, reasoning: 0, cost: '0.000034' },
  },
};

const content = 'x';
const DOORS: Readonly<Record<string, (model: string, stream: boolean) => readonly [string, object]>> = {
  chat: (model, stream) => [
    '/v1/chat/completions',
    {
      model,
      stream,
      messages: [{ role: 'user', content }],
      ...(stream && { stream_options: { include_usage: true } }),
    },
  ],
  Messages: (model, stream) => [
    '/v1/messages',
    { model, stream, max_tokens: 4000, messages: [{ role: 'user', content }] },
  ],
  Responses: (model, stream) => ['/v1/responses', { model, stream, input: content }],
  Gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: content }] }] },
  ],
};

type Counts = Readonly<Record<string, number>>;
/** The usage as each client API shows it. */
const TOLD: Readonly<Record<string, (expected: Vendor['expected']) => Counts>> = {
  // A client of the vendor's own API gets what the vendor wrote.
  chat: ({ input }) => ({ prompt_tokens: input }),
  Messages: ({ input, cached, output }) => ({ input_tokens: input - cached, output_tokens: output }),
  Responses: ({ input, output }) => ({ input_tokens: input, output_tokens: output, total_tokens: input + output }),
  Gemini: ({ input, output, reasoning }) => ({
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: input + output,
  }),
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(({ json: { model, stream } }, res) => {
    const { usage } = Object.values(VENDORS).find((vendor) => vendor.model === model)!;
    const head = { id: 'c', model, created: 1 };
    const message = { role: 'assistant', content: 'Grok', reasoning_content: 'First' };
    if (stream !== true)
      return json(res, {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      });
    const chunk = { ...head, object: 'chat.completion.chunk' };
    return sse(
      res,
      [
        { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        { ...chunk, choices: [], usage },
        '[DONE]',
      ].map((event) => (event === '[DONE]' ? 'data: [DONE]\n\n' : event)),
    );
  });
  gateway = await startTestGateway({
    gateway: { it: { reply_headers: ['cost'] } },
    catalog: {
      providers: [
        {
          slug: 'own',
          provider: 'openai',
          api_key: '${env:NONE:-sk-x}',
          base_url: `${upstream.url}/v1`,
          allow_insecure: true,
        },
      ],
    },
    prices: { prices: Object.values(VENDORS).map(({ model, usd }) => ({ model, usd })) },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const cells = Object.keys(VENDORS).flatMap((vendor) =>
  Object.keys(DOORS).flatMap((door) => [false, true].map((stream) => [vendor, door, stream] as const)),
);

describe.each(cells)('a usage of %s at the door %s (stream: %s)', (name, door, stream) => {
  it('adds up to its total, has no count below 0, and costs what the vendor charges', async () => {
    const { model, expected } = VENDORS[name]!;
    const [path, body] = DOORS[door]!(`@own/${model}`, stream);
    const reply = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it' },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    expect([reply.status, text]).toEqual([200, expect.not.stringMatching(/(?:_tokens|TokenCount)": ?-/)]);
    for (const [field, count] of Object.entries(TOLD[door]!(expected)))
      expect([...text.matchAll(new RegExp(`"${field}": ?(\\d+)`, 'g'))].at(-1)?.[1], field).toBe(String(count));
    const id = reply.headers.get('x-gateway-request-id');
    const line = () => gateway.logs.find((one) => one['request_id'] === id && one['cost_usd'] !== undefined);
    await expect.poll(line).toMatchObject({
      cost_usd: Number(expected.cost),
      tokens: { input: expected.input, output: expected.output },
    });
    if (!stream) expect(reply.headers.get('x-gateway-cost-usd')).toBe(expected.cost);
  });
});
