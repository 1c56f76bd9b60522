import { describe, expect, it } from 'vitest';
import { ENTRIES, run, TARGETS } from './run.testkit.ts';

const json = (text: string): unknown => JSON.parse(text);
const good = { status: 200, faults: [] };
const vertexModel = (model: string, more: object = {}) => ({
  provider: '@vertex',
  override_params: { model },
  ...more,
});

describe('the Messages route', () => {
  const message = {
    path: '/v1/messages',
    body: { model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    upstream: [{ answer: 'Hello there' }],
  };

  it.each(Object.entries(TARGETS))('is answered by %s, whole or as a stream', async (_, target) => {
    const config = { ...target, messages_route: 'any' };
    const whole = await run(config, message);
    expect(whole).toMatchObject(good);
    expect(json(whole.text)).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello there' }] });
    const streamed = await run(config, { ...message, body: { ...message.body, stream: true } });
    expect(streamed).toMatchObject({ ...good, stream: { text: 'Hello there', ends: 'complete' } });
  });

  it('has the error event of its API when a stream breaks', async () => {
    const upstream = [{ answer: 'Hello there', fault: 'cut' as const }];
    const outcome = await run(TARGETS.claude, { ...message, body: { ...message.body, stream: true }, upstream });
    expect(outcome.stream).toMatchObject({ text: 'Hello', ends: 'error' });
    expect(outcome.stream?.events.at(-1)).toMatchObject({ type: 'error' });
  });
});

describe('counting tokens', () => {
  it.each(['claude', 'vertex'] as const)('is answered by %s', async (name) => {
    const body = { model: 'any', messages: [{ role: 'user', content: 'Hi' }] };
    const config = { ...TARGETS[name], messages_route: 'any' };
    const outcome = await run(config, { path: '/v1/messages/count_tokens', body, upstream: [{}] });
    expect(outcome).toMatchObject(good);
    expect(json(outcome.text)).toEqual({ input_tokens: expect.any(Number) as number });
  });
});

describe('embeddings', () => {
  const input = ['one', 'two', 'three'];
  const asked = { path: '/v1/embeddings', body: { model: 'any', input } };

  it('are made up, one for each input', async () => {
    const config = { provider: '@openai', override_params: { model: 'text-embedding-3-small' } };
    const outcome = await run(config, { ...asked, upstream: [{ answer: 'any' }] });
    expect(outcome).toMatchObject(good);
    expect(json(outcome.text)).toMatchObject({ data: input.map((_, index) => ({ index })) });
  });

  it('are base64 on request', async () => {
    const config = { provider: '@openai', override_params: { model: 'text-embedding-3-small' } };
    const body = { ...asked.body, encoding_format: 'base64' };
    const outcome = await run(config, { ...asked, body, upstream: [{}] });
    expect(json(outcome.text)).toMatchObject({ data: [{ embedding: 'AACAPgAAAL8AAEA/' }, {}, {}] });
  });

  it('of Vertex are one call with a prediction for each', async () => {
    const outcome = await run(vertexModel('text-embedding-005'), { ...asked, upstream: [{}] });
    expect(outcome).toMatchObject({ ...good, calls: [{ body: { instances: [{ content: 'one' }, {}, {}] } }] });
    expect(json(outcome.text)).toMatchObject({ data: [{ embedding: [0.25, -0.5, 0.75] }, {}, {}] });
  });

  it.each([{ status: 503, delay: '1s' }, { fault: 'refuse' as const, delay: '1s' }, { fault: 'cut' as const }])(
    'that take several calls get an answer for each, and a retry for the one with %j',
    async (fault) => {
      const upstream = [{}, fault, {}, {}];
      const config = vertexModel('gemini-embedding-2', { retry: { attempts: 1 } });
      const outcome = await run(config, { ...asked, upstream });
      expect(outcome).toMatchObject(good);
      expect(outcome.calls).toHaveLength(4);
      const texts = outcome.calls.map(({ body }) => JSON.stringify(body));
      expect(new Set(texts).size).toBe(3);
      expect(json(outcome.text)).toMatchObject({ data: [{}, {}, {}] });
    },
  );
});

describe('images', () => {
  const asked = { path: '/v1/images/generations', body: { model: 'any', prompt: 'A cat', n: 2 } };

  it.each([
    ['OpenAI', { provider: '@openai', override_params: { model: 'gpt-image-1' } }, 1],
    ['Imagen', vertexModel('imagen-4.0-generate-001'), 1],
    ['Gemini', vertexModel('gemini-2.5-flash-image'), 2],
  ])('of %s are a pixel each', async (_, config, calls) => {
    const outcome = await run(config, { ...asked, upstream: Array.from({ length: calls }, () => ({})) });
    expect(outcome).toMatchObject(good);
    expect(json(outcome.text)).toMatchObject({ data: [{ b64_json: expect.any(String) as string }, {}] });
  });

  it('come as a stream of OpenAI', async () => {
    const config = { provider: '@openai', override_params: { model: 'gpt-image-1' } };
    const outcome = await run(config, { ...asked, body: { ...asked.body, stream: true }, upstream: [{}] });
    expect(outcome).toMatchObject({
      ...good,
      stream: { ends: 'complete', events: [{ type: 'image_generation.completed' }] },
    });
  });
});

describe('other upstreams', () => {
  it('include models deployed on Vertex, which reply with predictions', async () => {
    const endpoints = { mine: { id: '123', method: 'predict' } };
    const catalog = { providers: [{ ...ENTRIES[2], endpoints }] };
    const outcome = await run(vertexModel('endpoints.mine'), { upstream: [{ answer: 'Hello' }] }, { catalog });
    expect(outcome).toMatchObject({
      ...good,
      calls: [{ body: { instances: [{ '@requestFormat': 'chatCompletions' }] } }],
    });
    expect(json(outcome.text)).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
  });

  it('include the simulator, with the answers of the case', async () => {
    const catalog = { providers: [{ slug: 'sim', provider: 'simulator' }] };
    const config = { provider: '@sim', override_params: { model: 'sim-error-503' } };
    const outcome = await run(config, { upstream: [{ answer: 'Hello' }] }, { catalog });
    expect(outcome).toMatchObject(good);
    expect(json(outcome.text)).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
  });

  it('include internal hosts that the entry allows', async () => {
    const to = async (host: string) => {
      const entry = { slug: 'inside', provider: 'openai', base_url: `http://${host}/v1`, allow_insecure: true };
      const config = { provider: '@inside', override_params: { model: 'm' } };
      return run(config, { upstream: [{ answer: 'Hello' }] }, { catalog: { providers: [entry] } });
    };
    expect(await to('10.0.0.5')).toMatchObject({ ...good, calls: [{ url: 'http://10.0.0.5/v1/chat/completions' }] });
    expect(await to('[fd00::5]:8080')).toMatchObject({
      ...good,
      calls: [{ url: 'http://[fd00::5]:8080/v1/chat/completions' }],
    });
  });

  it('fetch no media: those of a request always exist', async () => {
    const image_url = { url: 'https://example.com/cat.png' };
    const config = { ...TARGETS.claude, remote_media: { hosts: ['*'] } };
    const body = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }] };
    const outcome = await run(config, { body, upstream: [{ answer: 'A cat' }] });
    expect(outcome).toMatchObject({ ...good, calls: [{ url: expect.stringContaining('anthropic') as string }] });
    expect(JSON.stringify(outcome.calls)).toContain('iVBORw0KGgo');
  });
});

it('answers operations that need no upstream', async () => {
  const outcome = await run(TARGETS.openai, { method: 'GET', path: '/v1/models' });
  expect(outcome).toMatchObject({ ...good, attempts: [] });
  const unknown = await run(TARGETS.openai, { path: '/v1/nothing' });
  expect(unknown).toMatchObject({ status: 404, faults: [] });
});
