import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import OpenAI, {
  APIConnectionError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NAMES } from '../../src/addons/simulator/script.ts';
import { simulator as provider } from '../../src/addons/simulator/provider.ts';
import { startSimulator, type Simulator } from '../../src/addons/simulator/server.ts';
import { noTokenCalls, testSetup } from '../../src/core/providers/setup.testkit.ts';
import { KEY, startTestGateway } from '../support/gateway.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders | undefined;
  /** What came before the end. */
  readonly text: string;
  /** Whether the reply ended as HTTP says it must. */
  readonly complete: boolean;
}

interface Asking {
  readonly body?: object | string;
  readonly method?: string;
  readonly path?: string;
  /** Leaves when the text so far says so. */
  readonly leaveWhen?: (text: string) => boolean;
}

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'one two three' }],
  ...more,
});

/** A client that sees bytes and broken connections as they are. */
function ask({ body, method = 'POST', path = '/v1/chat/completions', leaveWhen }: Asking): Promise<Answer> {
  return new Promise((resolve) => {
    const request = httpRequest(`${simulator.url}${path}`, { method, agent: false });
    request.on('error', () => resolve({ status: undefined, headers: undefined, text: '', complete: false }));
    request.on('response', (response) => {
      let text = '';
      const leaveIfWanted = () => leaveWhen?.(text) && request.destroy();
      response.on('data', (bytes: Buffer) => {
        text += bytes.toString();
        leaveIfWanted();
      });
      response.on('error', () => {});
      response.on('close', () => {
        resolve({ status: response.statusCode, headers: response.headers, text, complete: response.complete });
      });
      leaveIfWanted();
    });
    request.end(typeof body === 'object' ? JSON.stringify(body) : body);
  });
}

const plain = (model: string) => ask({ body: chat(model) });
const stream = (model: string) => ask({ body: chat(model, { stream: true }) });
const eventsIn = (text: string) => text.split('\n\n').filter((event) => event.startsWith('data: ')).length;

/** Every row of the README's table, over a real connection. */
const ROWS: Readonly<Record<string, () => Promise<void>>> = {
  async 'sim-fast'() {
    expect((await plain('sim-fast')).text).toContain('"finish_reason":"stop"');
    expect(eventsIn((await stream('sim-fast')).text)).toBe(200);
  },
  async 'sim-fast-each'() {
    const { text, complete } = await stream('sim-fast-each');
    expect(eventsIn(text)).toBe(200);
    expect(complete).toBe(true);
  },
  async 'sim-error-<status>'() {
    expect(await plain('sim-error-429')).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(await stream('sim-error-503')).toMatchObject({
      status: 503,
      headers: { 'content-type': 'application/json' },
    });
  },
  async 'sim-error-<status>-<ms>'() {
    const { headers } = await plain('sim-error-503-1500');
    expect(headers).toMatchObject({ 'retry-after': '2', 'retry-after-ms': '1500' });
  },
  async 'sim-error-midstream'() {
    const { text, complete } = await stream('sim-error-midstream');
    expect(eventsIn(text)).toBe(4);
    expect(text).toMatch(/data: \{"error":.*\}\n\n$/);
    expect(complete).toBe(true);
    expect((await plain('sim-error-midstream')).status).toBe(500);
  },
  async 'sim-flaky-<n>'() {
    const statuses = [];
    for (let turn = 0; turn < 4; turn += 1) statuses.push((await plain('sim-flaky-2')).status);
    expect(statuses).toEqual([503, 503, 200, 503]);
  },
  async 'sim-slow-<ms>'() {
    expect((await stream('sim-slow-30')).complete).toBe(true);
    expect((await plain('sim-slow-30')).complete).toBe(true);
  },
  async 'sim-slow-content-<ms>'() {
    const { text, complete } = await stream('sim-slow-content-150');
    expect(text).toMatch(/^data: .*"role":"assistant".*\n\n(: ping\n\n)+data: .*Simulated/);
    expect(complete).toBe(true);
    // Headers are there long before the body.
    expect(await ask({ body: chat('sim-slow-content-100000'), leaveWhen: () => true })).toMatchObject({
      status: 200,
      text: '',
    });
  },
  async 'sim-drip-<ms>'() {
    expect(eventsIn((await stream('sim-drip-5')).text)).toBe(9);
    const left = await ask({
      body: chat('sim-drip-100000', { stream: true }),
      leaveWhen: (text) => eventsIn(text) === 1,
    });
    expect(left.complete).toBe(false);
  },
  async 'sim-cut'() {
    const { text, complete } = await stream('sim-cut');
    expect(eventsIn(text)).toBe(3);
    expect(text.endsWith('\n\n')).toBe(false);
    expect(complete).toBe(false);
  },
  async 'sim-cut-<n>'() {
    expect(await stream('sim-cut-0')).toMatchObject({ status: undefined });
    expect(await plain('sim-cut-0')).toMatchObject({ status: undefined });
    const { text } = await stream('sim-cut-4');
    expect(text.split('\n\n').slice(0, -1)).toHaveLength(4);
    expect(text.endsWith('\n\n')).toBe(false);
    expect(await stream('sim-cut-999')).toMatchObject({
      complete: false,
      text: expect.stringMatching(/data: \[?D?O?N?$|data:?$/),
    });
    const body = await plain('sim-cut-1');
    expect(body).toMatchObject({ status: 200, complete: false });
    expect(() => void JSON.parse(body.text)).toThrow();
  },
  async 'sim-stall-<n>'() {
    const left = await ask({ body: chat('sim-stall-3', { stream: true }), leaveWhen: (text) => eventsIn(text) === 3 });
    expect(left).toMatchObject({ status: 200, complete: false });
    expect(left.text.endsWith('\n\n')).toBe(true);
    expect(await ask({ body: chat('sim-stall-0', { stream: true }), leaveWhen: () => true })).toMatchObject({
      status: 200,
      text: '',
    });
    expect(await ask({ body: chat('sim-stall-1'), leaveWhen: (text) => text !== '' })).toMatchObject({
      complete: false,
    });
  },
};

describe('the model names of the README', () => {
  test('are all tried here', () => {
    expect(Object.keys(ROWS).toSorted()).toEqual(Object.keys(NAMES).toSorted());
  });
  test.each(Object.entries(ROWS))('%s', (_, tryIt) => tryIt());
});

describe('the simulator as a server', () => {
  test.each<[string, Asking, number]>([
    ['another path', { path: '/v1/images/generations', body: {} }, 404],
    ['embeddings of nothing', { path: '/v1/embeddings', body: {} }, 400],
    ['another method', { method: 'GET' }, 405],
    ['a broken body', { body: '{"model":' }, 400],
    ['an empty body', { body: '' }, 400],
  ])('refuses %s in the shape of an error', async (_, asking, status) => {
    const answer = await ask(asking);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { message: expect.any(String) } });
  });

  test('ignores the query', async () => {
    expect((await ask({ path: '/v1/chat/completions?x=1', body: chat('m') })).status).toBe(200);
  });

  test('listens on a port of its own, and says when it cannot', async () => {
    const other = await startSimulator();
    const port = Number(new URL(other.url).port);
    await expect(startSimulator({ port })).rejects.toThrow('EADDRINUSE');
    await other.close();
    const again = await startSimulator({ port });
    expect(again.url).toBe(other.url);
    await again.close();
  });
});

describe('the openai client', () => {
  const client = () => new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: 'none', maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Please use get_weather and get_time.' }];
  const tools = ['get_weather', 'get_time'].map((name) => ({
    type: 'function' as const,
    function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  }));

  test('chats', async () => {
    const completion = await client().chat.completions.create({
      model: 'sim',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(completion.choices[0]?.message.content).toBe('Simulated reply to: Hi');
  });

  test('gets embeddings, which it asks for in base64 unless told otherwise', async () => {
    const input = ['a cat', 'a dog'];
    const { data, usage } = await client().embeddings.create({ model: 'sim', input, dimensions: 8 });
    const floats = await client().embeddings.create({ model: 'sim', input, dimensions: 8, encoding_format: 'float' });
    expect(data.map(({ embedding }) => embedding)).toEqual(floats.data.map(({ embedding }) => embedding));
    expect(data[1]?.embedding).toHaveLength(8);
    expect(usage.total_tokens).toBe(4);
  });

  test('streams with usage', async () => {
    const runner = client().chat.completions.stream({
      model: 'sim',
      messages: [{ role: 'user', content: 'Hi' }],
      stream_options: { include_usage: true },
    });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe('Simulated reply to: Hi');
    expect(final.usage?.completion_tokens).toBe(4);
  });

  test('assembles parallel tool calls from a stream', async () => {
    const runner = client().chat.completions.stream({ model: 'sim', messages, tools });
    const { choices } = await runner.finalChatCompletion();
    const calls = choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && call.function);
    expect(calls).toMatchObject([
      { name: 'get_weather', arguments: '{"city":"sample"}' },
      { name: 'get_time', arguments: '{"city":"sample"}' },
    ]);
    expect(choices[0]?.finish_reason).toBe('tool_calls');
  });

  test.each([
    ['sim-error-400', BadRequestError],
    ['sim-error-401', AuthenticationError],
    ['sim-error-404', NotFoundError],
    ['sim-error-429', RateLimitError],
    ['sim-error-529', InternalServerError],
    ['sim-cut-0', APIConnectionError],
  ])('%s is the class it should be', async (model, kind) => {
    await expect(client().chat.completions.create({ model, messages })).rejects.toBeInstanceOf(kind);
  });

  test('sees an error in the middle of a stream', async () => {
    const chunks = await client().chat.completions.create({ model: 'sim-error-midstream', messages, stream: true });
    const read = async () => {
      for await (const chunk of chunks) expect(chunk.choices).toHaveLength(1);
    };
    await expect(read()).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('the simulator in this process', () => {
  test('is started by the first entry that is opened, and shared by all', async () => {
    const { setup } = testSetup(noTokenCalls);
    const [one, two] = ['a', 'b'].map((slug) => provider.create({ slug, provider: 'simulator' }, setup));
    await Promise.all([one?.open?.(), two?.open?.()]);
    const location = one?.locate('sim', { task: 'generate', stream: false });
    expect(location?.origin).toMatch(/^http:\/\/127\.0\.0\.1:[1-9][0-9]*$/);
    expect(two?.locate('sim', { task: 'generate', stream: false })).toEqual(location);
    const client = new OpenAI({ baseURL: `${location?.origin}/v1`, apiKey: 'none', maxRetries: 0 });
    await expect(
      client.chat.completions.create({ model: 'sim', messages: [{ role: 'user', content: 'x' }] }),
    ).resolves.toBeDefined();
  });
});

describe('the simulator behind a gateway', () => {
  test('answers embeddings as OpenAI does', async () => {
    const gateway = await startTestGateway({ catalog: { providers: [{ slug: 'sim', provider: 'simulator' }] } });
    try {
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
      const { data, model } = await client.embeddings.create({ model: '@sim/any', input: ['a', 'b'], dimensions: 4 });
      expect([model, ...data.map(({ embedding }) => embedding.length)]).toEqual(['any', 4, 4]);
      await expect(client.embeddings.create({ model: '@sim/sim-error-429', input: 'a' })).rejects.toBeInstanceOf(
        RateLimitError,
      );
      await expect(client.embeddings.create({ model: '@sim/any', input: '' })).rejects.toBeInstanceOf(BadRequestError);
    } finally {
      await gateway.close();
    }
  });
});
