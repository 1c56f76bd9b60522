import Anthropic, { BadRequestError, NotFoundError as AnthropicNotFound } from '@anthropic-ai/sdk';
import OpenAI, { NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';

/** Which models a caller may ask for, told to the clients of both APIs. No upstream is asked. */

let gateway: TestGateway;
beforeAll(async () => {
  const vertex = { provider: 'vertex-ai', project_id: 'my-project', region: 'us-central1' };
  const key = (id: string, more: object = {}) => ({ id, key: `\${env:NONE:-gatehouse-${id}-key-0123456789}`, ...more });
  gateway = await startTestGateway({
    catalog: {
      providers: [
        { slug: 'sim', provider: 'simulator', models: ['sim-echo', 'sim-b', 'sim-*-large'] },
        { slug: 'vertex', ...vertex, models: ['gemini-2.5-*', 'anthropic.*', 'deepseek-ai/*'] },
        { slug: 'open', ...vertex },
        { slug: 'claude', provider: 'anthropic', api_key: '${env:NONE:-sk-ant-CANARY}' },
      ],
    },
    keys: {
      keys: [
        { id: 'all', key: `\${env:NONE:-${KEY}}` },
        key('narrow', { providers: ['@sim', '@vertex'], models: ['sim-echo', '@vertex/gemini-*'] }),
        key('plain', { configs: ['plain'] }),
        key('single', { providers: ['@open'], models: ['@open/gemini-of-the-key', '@open/gemini-2.5-pro'] }),
        key('nothing', { providers: ['@sim'], models: ['no-such'] }),
      ],
    },
    gateway: {
      plain: { provider: '@vertex', override_params: { model: 'gemini-2.5-flash' } },
      tree: {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@vertex', override_params: { model: 'deepseek-ai/deepseek-v3.1-maas' } },
          { provider: 'anthropic', default_params: { model: 'claude-sonnet-4-5' } },
          { override_params: { model: '@open/gemini-2.5-pro' } },
          { provider: '@vertex', default_params: { model: 'not-served-there' } },
          { override_params: { model: 'left-to-the-request' } },
        ],
      },
    },
  });
});
afterAll(() => gateway.close());

const keyOf = (id: string): string => (id === 'all' ? KEY : `gatehouse-${id}-key-0123456789`);
const openai = (id = 'all', headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: keyOf(id), maxRetries: 0, defaultHeaders: headers });
const anthropic = (id = 'all') => new Anthropic({ baseURL: gateway.url, apiKey: keyOf(id), maxRetries: 0 });

async function idsFor(id: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const model of openai(id).models.list()) ids.push(model.id);
  return ids;
}
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(gateway.url + path, { method, headers: { authorization: `Bearer ${KEY}`, ...headers } });

const ALL = [
  '@claude/claude-sonnet-4-5',
  '@open/gemini-2.5-pro',
  '@sim/sim-b',
  '@sim/sim-echo',
  '@vertex/deepseek-ai/deepseek-v3.1-maas',
  '@vertex/gemini-2.5-flash',
];

describe('GET /v1/models', () => {
  it('lists what entries and gateway configs name, sorted, each once, in OpenAI’s shape', async () => {
    const page = await openai().models.list();
    expect(page.data.map(({ id }) => id)).toEqual(ALL);
    expect(page.object).toBe('list');
    expect(page.data[2]).toEqual({ id: '@sim/sim-b', object: 'model', created: 0, owned_by: 'simulator' });
  });

  it.each([
    ['held to providers and models', 'narrow', ['@sim/sim-echo', '@vertex/gemini-2.5-flash']],
    [
      'held to a config, which hears nothing of the others',
      'plain',
      ['@sim/sim-b', '@sim/sim-echo', '@vertex/gemini-2.5-flash'],
    ],
    ['that names models itself', 'single', ['@open/gemini-2.5-pro', '@open/gemini-of-the-key']],
    ['that may use nothing that is there', 'nothing', []],
  ])('lists for a key %s what it may use', async (_, key, ids) => {
    expect(await idsFor(key)).toEqual(ids);
  });

  it('answers clients of Anthropic’s API in its shape, every known key there', async () => {
    const page = await anthropic('narrow').models.list();
    expect(page.data[0]).toEqual({
      type: 'model',
      id: '@sim/sim-echo',
      display_name: 'sim-echo',
      created_at: '1970-01-01T00:00:00Z',
      lifecycle: 'active',
      deprecated_at: null,
      retires_at: null,
      line: null,
      max_input_tokens: null,
      max_tokens: null,
      capabilities: null,
    });
    expect(page).toMatchObject({ has_more: false, first_id: '@sim/sim-echo', last_id: '@vertex/gemini-2.5-flash' });
  });

  it.each([1, 2, 5, 6, 1000])('gives Anthropic’s client all pages of %i, forwards and backwards', async (limit) => {
    const forwards: string[] = [];
    for await (const { id } of anthropic().models.list({ limit })) forwards.push(id);
    expect(forwards).toEqual(ALL);
    const before = await anthropic().models.list({ limit, before_id: '@sim/sim-echo' });
    expect(before.data.map(({ id }) => id)).toEqual(ALL.slice(0, 3).slice(-limit));
    expect(before.has_more).toBe(limit < 3);
  });

  it('lists nothing in stages that no model here is in', async () => {
    expect((await anthropic().models.list({ lifecycle: ['retired'] })).data).toEqual([]);
    expect((await anthropic().models.list({ lifecycle: ['active', 'retired'] })).data).toHaveLength(6);
  });

  it('gives an empty page its nulls', async () => {
    const page = await anthropic('nothing').models.list();
    expect(page).toMatchObject({ data: [], has_more: false, first_id: null, last_id: null });
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=-1',
    'limit=1.5',
    'limit=1&limit=2',
    'lifecycle[]=x',
    'after_id=a&before_id=b',
  ])('refuses ?%s in Anthropic’s envelope', async (query) => {
    const reply = await get(`/v1/models?${query}`, { 'anthropic-version': '2023-06-01' });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });

  it('throws its client’s own error for a page that cannot be', async () => {
    await expect(anthropic().models.list({ limit: 5000 })).rejects.toBeInstanceOf(BadRequestError);
  });

  it('leaves queries of other APIs alone', async () => {
    expect((await get('/v1/models?limit=x&beta=true')).status).toBe(200);
  });

  it('needs a key, and says so in the words of the client', async () => {
    const plain = await get('/v1/models', { authorization: '' });
    expect(await plain.json()).toMatchObject({ error: { code: 'missing_api_key' } });
    const native = await get('/v1/models', { authorization: '', 'anthropic-version': '2026-10-21' });
    expect(native.status).toBe(401);
    expect(await native.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  });

  it('answers HEAD without a body, and other methods with what there is', async () => {
    const head = await get('/v1/models', {}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(100);
    const post = await get('/v1/models/x', {}, 'DELETE');
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('GET /v1/models/{id}', () => {
  it.each([
    '@sim/sim-echo',
    '@sim/sim-very-large',
    '@vertex/gemini-2.5-pro',
    '@vertex/anthropic.claude-sonnet-4-5@20250929',
    '@vertex/deepseek-ai/deepseek-v3.1-maas',
    '@open/whatever-google-serves',
    '@claude/claude-opus-4-1',
  ])('finds %s, for this caller could ask for it', async (id) => {
    expect((await openai().models.retrieve(id)).id).toBe(id);
    expect((await anthropic().models.retrieve(id)).id).toBe(id);
    const raw = await get(`/v1/models/${id}`);
    expect(await raw.json()).toMatchObject({ id });
  });

  it('finds a bare name where the provider came with the request', async () => {
    const model = await openai('all', { 'x-gateway-provider': '@sim' }).models.retrieve('sim-echo');
    expect(model).toMatchObject({ id: '@sim/sim-echo', owned_by: 'simulator' });
    const adHoc = {
      'x-gateway-provider': 'vertex-ai',
      'x-gateway-vertex-project-id': 'my-project',
      'x-gateway-vertex-region': 'us',
    };
    expect(await openai('all', adHoc).models.retrieve('gemini-2.5-pro')).toMatchObject({ id: 'gemini-2.5-pro' });
  });

  it.each([
    ['of no entry', '@nowhere/x', 'all'],
    ['the entry does not serve', '@sim/other', 'all'],
    ['of an entry of others', '@claude/claude-opus-4-1', 'narrow'],
    ['of others', '@sim/sim-b', 'narrow'],
    ['without a place', 'sim-echo', 'all'],
    ['that is not a valid name', '@open/..', 'all'],
    ['no provider would take', '@vertex/gemini-2.5-a b?c', 'all'],
    ['without a slug', '@/x', 'all'],
  ])('answers 404 for a model %s', async (_, id, key) => {
    const failure = await openai(key)
      .models.retrieve(id)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotFoundError);
    expect(failure).toMatchObject({ code: 'model_not_found', type: 'invalid_request_error', param: 'model' });
    const native = await anthropic(key)
      .models.retrieve(id)
      .catch((error: unknown) => error);
    expect(native).toBeInstanceOf(AnthropicNotFound);
    expect(native).toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } });
  });

  it('does not let a caller tell what is there from what is not', async () => {
    const texts = await Promise.all(
      ['@claude/claude-opus-4-1', '@nobody/claude-opus-4-1', '@sim/sim-b'].map(async (id) => {
        const reply = await get(`/v1/models/${id}`, { authorization: `Bearer ${keyOf('narrow')}` });
        return `${reply.status} ${(await reply.text()).replace(JSON.stringify(JSON.stringify(id)).slice(1, -1), 'ID')}`;
      }),
    );
    expect(new Set(texts).size).toBe(1);
  });

  it('refuses a path that encodes no character, and headers that cannot be read', async () => {
    const broken = await get('/v1/models/%E0%A4%A');
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ error: { code: 'invalid_request' } });
    const half = await get('/v1/models/x', { 'x-gateway-provider': 'vertex-ai', 'x-gateway-vertex-region': 'us' });
    expect(await half.json()).toMatchObject({ error: { code: 'invalid_header' } });
  });

  it('keeps the label of its route to one value', async () => {
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    const routes = new Set(
      [...metrics.matchAll(/gatehouse_requests_total\{route="([^"]*)"/g)].map(([, route]) => route),
    );
    expect([...routes].filter((route) => route?.startsWith('/v1/models'))).toEqual(['/v1/models', '/v1/models/{+id}']);
  });
});

describe('a gateway with a simulator and no list of models', () => {
  it('lists the models of the simulator, and names its documents at `/` without a key and a version', async () => {
    const other = await startTestGateway({ catalog: { providers: [{ slug: 'sim', provider: 'simulator' }] } });
    const headers = { authorization: `Bearer ${KEY}` };
    const { data } = (await (await fetch(`${other.url}/v1/models`, { headers })).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['@sim/demo', '@sim/sim-fast']));
    const root = await fetch(`${other.url}/`);
    expect([root.status, root.headers.get('content-type')]).toEqual([200, 'application/json']);
    const text = await root.text();
    expect(JSON.parse(text)).toEqual({
      name: 'gatehouse',
      message: expect.any(String),
      links: { health: '/health', models: '/v1/models' },
      docs: expect.stringMatching(/^https:/),
    });
    expect(text).not.toMatch(/\d+\.\d+/);
    expect((await fetch(`${other.url}/`, { method: 'POST', body: '{}' })).status).toBe(404);
    await other.close();
  });
});

describe('an entry chain without `models`', () => {
  it('says so, in the words of the client', async () => {
    const other = await startTestGateway({
      server: { chains: { entry: ['telemetry', 'errors', 'auth', 'body', 'config'] } },
    });
    const headers = { authorization: `Bearer ${KEY}` };
    const reply = await fetch(`${other.url}/v1/models`, { headers });
    const body = (await reply.json()) as { error: { code: string; message: string } };
    expect([reply.status, body.error.code]).toEqual([404, 'not_found']);
    expect(body.error.message).toContain('chains.entry');
    const native = await fetch(`${other.url}/v1/models/x`, {
      headers: { ...headers, 'anthropic-version': '2023-06-01' },
    });
    expect(await native.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
    await other.close();
  });
});
