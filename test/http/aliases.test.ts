import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Aliases of catalog.yaml: names of models that requests write in place of `@slug/model`, or of a gateway config. */

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let status = 200;
let scripted: ((res: ServerResponse) => Promise<void>) | undefined;

const key = (id: string, more: object = {}) => ({ id, key: `\${env:NONE:-gatehouse-${id}-key-0123456789}`, ...more });

beforeAll(async () => {
  upstream = await startUpstream(({ json: body, url }, res) => {
    if (status !== 200) return json(res, { error: { message: 'no' } }, status);
    if (scripted) return scripted(res);
    if (url.includes('count_tokens')) return json(res, { input_tokens: 3 });
    if (url.includes('messages'))
      return body['stream'] === true ? sse(res, anthropicEvents('Hel', 'lo')) : json(res, anthropicReply('Hello'));
    const text = 'say "model":"upstream-model"';
    return body['stream'] === true
      ? sse(res, [
          openaiChunk({ content: text }),
          openaiChunk({ content: '!' }),
          openaiChunk({}, 'stop'),
          'data: [DONE]\n\n',
        ])
      : json(res, openaiReply(text));
  });
  gateway = await startTestGateway({
    catalog: {
      providers: entriesFor(upstream.url),
      aliases: {
        fast: { target: '@openai/gpt-4o', display_name: 'Fast', context: 128000, efforts: ['medium', 'high'] },
        'claude-gw-5': { target: '@claude/claude-opus-4-5' },
        'gpt-4o': { target: '@openai/gpt-4o', hidden: true },
        never: { target: '@openai/o3-mini' },
        pair: { config: 'both' },
        slow: { config: 'by-alias' },
        'wild/*': { target: '@openai/*' },
      },
    },
    keys: {
      keys: [
        { id: 'all', key: `\${env:NONE:-${KEY}}` },
        key('alone', { models: ['fast', 'gpt-4o', 'pair'], configs: [] }),
        key('other', { models: ['@claude/*'] }),
        key('vertex', { models: ['claude-gw-5'] }),
        key('bound', { models: ['fast'], providers: ['@claude'] }),
        key('inline', { inline_configs: true, models: ['claude-gw-5'] }),
      ],
    },
    gateway: {
      both: {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@claude', override_params: { model: 'claude-opus-4-5', max_tokens: 100 } },
          { override_params: { model: '@openai/gpt-4o' } },
        ],
      },
      cached: { cache: { mode: 'simple', scope: 'key' } },
      empty: {},
      'by-alias': { override_params: { model: 'fast' } },
      'own-entry': { provider: '@openai', override_params: { model: 'fast' } },
      inherited: {
        strategy: { mode: 'fallback' },
        override_params: { model: 'fast' },
        targets: [{ provider: '@claude', override_params: { model: 'claude-opus-4-5' } }, {}],
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const keyOf = (id: string): string => (id === 'all' ? KEY : `gatehouse-${id}-key-0123456789`);

interface Ask {
  readonly model: string;
  readonly id?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: boolean;
}

async function ask({ model, id = 'all', path = '/v1/chat/completions', headers = {}, stream = false }: Ask) {
  const before = upstream.seen.length;
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${keyOf(id)}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, stream, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }),
  });
  const text = await response.text();
  return { response, text, sent: upstream.seen.slice(before) };
}

const modelsIn = (text: string): string[] => [...text.matchAll(/"model":"([^"]*)"/g)].map(([, model]) => model!);

describe('a name that a caller chooses under a wildcard', () => {
  const chat = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 50 };
  const doors = {
    chat: ['/v1/chat/completions', chat],
    Messages: ['/v1/messages', chat],
    Responses: ['/v1/responses', { input: 'hi' }],
    Gemini: ['/v1beta/models/', { contents: [{ parts: [{ text: 'hi' }] }] }],
  } as const;
  const cells = Object.keys(doors).flatMap((door) =>
    ['漢字', 'x•', 'é', 'a"b'].flatMap((name) => [false, true].map((stream) => [door, name, stream] as const)),
  );

  it.each(cells)(
    'comes back to %s whole, and percent-encoded in the header: %s, stream %s',
    async (door, name, stream) => {
      const model = `wild/${name}`;
      const [path, body] = doors[door as keyof typeof doors];
      const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const response = await fetch(
        gateway.url + path + (door === 'Gemini' ? `${encodeURIComponent(model)}:${method}` : ''),
        {
          method: 'POST',
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify(door === 'Gemini' ? body : { model, stream, ...body }),
        },
      );
      const text = new TextDecoder('utf-8', { fatal: true }).decode(await response.arrayBuffer());
      expect([response.status, text.includes(JSON.stringify(model))]).toEqual([200, true]);
      const header = response.headers.get('x-gateway-model') ?? '';
      expect([decodeURIComponent(header), /^[\x20-\x7e]+$/.test(header)]).toEqual([name, true]);
      for (const [, data] of text.matchAll(/^data: (\{.*)$/gm))
        expect(() => JSON.parse(data!) as unknown).not.toThrow();
    },
  );
});

describe('a request for an alias', () => {
  it.each([
    ['a body', false],
    ['a stream', true],
  ])('reaches its target, and its reply names the alias (%s)', async (_, stream) => {
    const { response, text, sent } = await ask({ model: 'fast', stream });
    expect(sent.map((request) => request.json['model'])).toEqual(['gpt-4o']);
    expect(response.headers.get('x-gateway-model')).toBe('gpt-4o');
    expect(new Set(modelsIn(text))).toEqual(new Set(['fast']));
    // The same words in a text of the answer stay.
    expect(text).toContain(String.raw`say \"model\":\"upstream-model\"`);
  });

  it.each([
    ['translated, a body', false, 'fast'],
    ['translated, a stream', true, 'fast'],
    ['native, a body', false, 'claude-gw-5'],
    ['native, a stream', true, 'claude-gw-5'],
  ])('is named in replies of the Messages API (%s)', async (_, stream, model) => {
    const { text } = await ask({ model, path: '/v1/messages', stream });
    expect(modelsIn(text)).toEqual([model]);
  });

  it('has its events as they arrive, one write for each, with nothing changed but the name', async () => {
    const events = [
      { type: 'message_start', message: { model: 'claude-up', content: [], tomorrow: { model: 'claude-up' } } },
      { type: 'tomorrow', model: 'claude-up' },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: { model: 'claude-up' } },
      },
      { type: 'message_stop' },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    let received = (): void => {};
    scripted = async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) {
        const arrived = new Promise<void>((resolve) => (received = resolve));
        res.write(event);
        await arrived;
      }
      res.end();
    };
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-gw-5', stream: true, max_tokens: 50, messages: [] }),
    });
    const pieces: string[] = [];
    const decoder = new TextDecoder();
    for await (const piece of response.body!) {
      pieces.push(decoder.decode(piece));
      received();
    }
    scripted = undefined;
    expect(pieces.map((piece) => piece.replace('"model":"claude-gw-5"', '"model":"claude-up"'))).toEqual(events);
    expect(modelsIn(pieces.join('')).filter((name) => name === 'claude-gw-5')).toHaveLength(1);
  });

  it('for a config uses that config and each target’s own model', async () => {
    const { response, text, sent } = await ask({ model: 'pair' });
    expect(sent.map((request) => request.json['model'])).toEqual(['claude-opus-4-5']);
    expect(response.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[0]');
    expect(modelsIn(text)).toEqual(['pair']);
  });

  it('for a config is refused beside another config', async () => {
    const { response, text } = await ask({ model: 'pair', headers: { 'x-gateway-config': 'empty' } });
    expect(response.status).toBe(400);
    expect(text).toContain('provider_conflict');
  });

  it.each([
    ['claude-gw-5:rawPredict', {}],
    ['claude-gw-5:streamRawPredict', {}],
    ['claude-gw-5%5B1m%5D:rawPredict', {}],
    ['count-tokens:rawPredict', { model: 'claude-gw-5' }],
  ])('may come by the path of Vertex AI for Anthropic’s clients (%s)', async (method, more) => {
    const before = upstream.seen.length;
    const response = await fetch(`${gateway.url}/v1/projects/p/locations/l/publishers/anthropic/models/${method}`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': keyOf('vertex'), 'content-type': 'application/json' },
      body: JSON.stringify({
        anthropic_version: 'vertex-2023-10-16',
        messages: [{ role: 'user', content: 'hi' }],
        ...('model' in more ? more : { max_tokens: 50 }),
      }),
    });
    expect(response.status).toBe(200);
    const [sent] = upstream.seen.slice(before);
    expect(sent?.json).toMatchObject({ model: 'claude-opus-4-5' });
    expect(sent?.json).not.toHaveProperty('anthropic_version');
    expect(modelsIn(await response.text())).toEqual('model' in more ? [] : ['claude-gw-5']);
  });

  it('is exact: another spelling is no alias', async () => {
    const { response, text } = await ask({ model: 'Fast' });
    expect(response.status).toBe(400);
    expect(text).toContain('provider_required');
  });

  it('shares cached replies with its target, each with the name of its own request', async () => {
    const headers = { 'x-gateway-config': 'cached' };
    const first = await ask({ model: '@openai/gpt-4o', headers });
    const second = await ask({ model: 'fast', headers });
    expect([first.sent.length, second.sent.length]).toEqual([1, 0]);
    expect(second.response.headers.get('x-gateway-cache-status')).toBe('HIT');
    expect(modelsIn(second.text)).toEqual(['fast']);
  });
});

describe('a key that lists an alias', () => {
  it.each([
    ['the alias', 'fast', 200],
    ['an alias of a config that its `configs` lack', 'pair', 200],
    ['the target itself', '@openai/gpt-4o', 403],
    ['an alias that it does not list', 'claude-gw-5', 403],
  ])('may use %s', async (_, model, status) => {
    const { response, text } = await ask({ model, id: 'alone' });
    expect(response.status).toBe(status);
    if (status === 403) expect(text).toContain('model_not_allowed');
  });

  it('may not use its target under the alias’s own name at the entry', async () => {
    // `gpt-4o` is an alias, so the name in `models` does not allow the model gpt-4o.
    const { response } = await ask({ model: 'gpt-4o', id: 'alone' });
    expect(response.status).toBe(200);
    const direct = await ask({ model: '@openai/gpt-4o', id: 'alone' });
    expect(direct.response.status).toBe(403);
  });

  it('is held to its `providers` all the same, and does not learn the target', async () => {
    const { response, text } = await ask({ model: 'fast', id: 'bound' });
    expect(response.status).toBe(403);
    expect(text).toContain('This key may not use the model \\"fast\\".');
    expect(text).not.toContain('openai/gpt-4o');
  });

  it('names a further model that the key may not use', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keyOf('alone')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fast', models: ['gpt-4.1'], messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_allowed', param: 'models[0]' } });
  });

  it('refuses a client of the Messages API with the status that Claude Code expects for a model', async () => {
    const { response, text } = await ask({ model: 'claude-gw-5', id: 'alone', path: '/v1/messages' });
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([400, 'false']);
    expect(text).toContain('"type":"invalid_request_error"');
  });

  it('may use the alias of a target that it may use, without listing it', async () => {
    expect((await ask({ model: 'claude-gw-5', id: 'other' })).response.status).toBe(200);
    expect((await ask({ model: 'fast', id: 'other' })).response.status).toBe(403);
  });
});

describe('a target whose parameters name an alias', () => {
  it.each([
    ['by-alias', 'gpt-4o'],
    ['own-entry', 'gpt-4o'],
    ['inherited', 'claude-opus-4-5'],
  ])('asks its model, where the target names no other entry: %s', async (config, model) => {
    const { response, sent } = await ask({ model: 'any', headers: { 'x-gateway-config': config } });
    expect([response.status, sent.map((request) => request.json['model'])]).toEqual([200, [model]]);
  });

  it('may be one of the config that another alias stands for', async () => {
    const slow = await ask({ model: 'slow' });
    expect(slow.sent.map((request) => request.json['model'])).toEqual(['gpt-4o']);
    expect(modelsIn(slow.text)).toEqual(['slow']);
  });

  it('is for keys that may use the alias, and does not name its model to others', async () => {
    const headers = { 'x-gateway-config': 'by-alias' };
    const inline = { 'x-gateway-config': JSON.stringify({ override_params: { model: 'fast' } }) };
    expect((await ask({ model: 'any', id: 'bound', headers })).text).toContain('may not use the model \\"fast\\"');
    const { response, text } = await ask({ model: 'any', id: 'inline', headers: inline });
    expect([response.status, text]).toEqual([403, expect.stringContaining('may not use the model \\"fast\\"')]);
    expect(text).not.toContain('openai/gpt-4o');
    const own = { 'x-gateway-config': JSON.stringify({ override_params: { model: 'claude-gw-5' } }) };
    expect(
      (await ask({ model: 'any', id: 'inline', headers: own })).sent.map(({ json: body }) => body['model']),
    ).toEqual(['claude-opus-4-5']);
  });
});

describe('lists of models', () => {
  const list = async (id: string, query = '', headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}/v1/models${query}`, {
      headers: { authorization: `Bearer ${keyOf(id)}`, ...headers },
    });
    return (await response.json()) as { data: Record<string, unknown>[]; models?: Record<string, unknown>[] };
  };
  const idsOf = async (id: string) => (await list(id)).data.map((model) => model['id']);

  it('begin with the aliases that the key may use, without hidden ones', async () => {
    const names = 'claude-gw-5 fast never pair slow @claude/claude-opus-4-5 @openai/gpt-4o';
    // A simulator has models of its own.
    const all = (await idsOf('all')).filter((id) => !/\/(demo|sim-)/.test(String(id)));
    expect(all.join(' ')).toBe(names);
    expect(await idsOf('alone')).toEqual(['fast', 'pair']);
    expect(await idsOf('other')).toEqual(['claude-gw-5', 'pair', '@claude/claude-opus-4-5']);
    expect(await idsOf('bound')).toEqual([]);
  });

  it('have limits in OpenAI’s shape', async () => {
    const [claude, fast] = (await list('all')).data;
    expect(claude).toMatchObject({ owned_by: 'anthropic', context_window: 200000, max_output_tokens: 64000 });
    expect(fast).toMatchObject({ context_window: 128000, supported_reasoning_efforts: ['medium', 'high'] });
  });

  it('have names and limits in Anthropic’s shape, page by page', async () => {
    const client = new Anthropic({ baseURL: gateway.url, authToken: KEY, apiKey: null, maxRetries: 0 });
    const seen = [];
    for await (const model of client.models.list({ limit: 2 })) seen.push(model);
    expect(seen.map(({ id }) => id)).toEqual(await idsOf('all'));
    expect(seen[0]).toMatchObject({ display_name: 'claude-gw-5', max_input_tokens: 200000, max_tokens: 64000 });
    expect(await client.models.retrieve('gpt-4o')).toMatchObject({ id: 'gpt-4o' });
  });

  it('have names, limits and methods in Gemini’s shape, page by page', async () => {
    const page = async (query: string) => {
      const response = await fetch(`${gateway.url}/v1beta/models${query}`, { headers: { 'x-goog-api-key': KEY } });
      return (await response.json()) as { models: Record<string, unknown>[]; nextPageToken?: string };
    };
    const first = await page('?pageSize=2');
    const rest = await page(`?pageSize=1000&pageToken=${first.nextPageToken}`);
    const names = [...first.models, ...rest.models].map(({ name }) => name);
    expect(names).toEqual((await idsOf('all')).map((id) => `models/${String(id)}`));
    expect(first.models).toMatchObject([
      { displayName: 'claude-gw-5', inputTokenLimit: 200000, outputTokenLimit: 64000 },
      { name: 'models/fast', displayName: 'Fast', inputTokenLimit: 128000 },
    ]);
    expect(first.models[1]?.['supportedGenerationMethods']).toContain('streamGenerateContent');
  });

  it('are what Codex reads when it sends its version', async () => {
    const { data, models } = await list('alone', '?client_version=0.169.0');
    expect(data.map((model) => model['id'])).toEqual(['fast', 'pair']);
    expect(models?.[0]).toMatchObject({
      slug: 'fast',
      display_name: 'Fast',
      default_reasoning_level: 'medium',
      supported_reasoning_levels: [
        { effort: 'medium', description: 'medium effort' },
        { effort: 'high', description: 'high effort' },
      ],
      context_window: 128000,
      visibility: 'list',
    });
  });
});

describe('the record and the metrics of a request', () => {
  it('have the model of an alias from the first request on', async () => {
    status = 500;
    await ask({ model: 'never' });
    status = 200;
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(/gatehouse_alias_requests_total\{alias="never",provider="openai",request_model="o3-mini",/);
  });

  it('have the real model, and name the alias', async () => {
    await ask({ model: 'fast' });
    expect(gateway.logs.findLast((line) => line['alias'] === 'fast')).toMatchObject({
      provider: 'openai',
      request_model: 'gpt-4o',
    });
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(/gatehouse_alias_requests_total\{alias="fast",provider="openai",.*outcome="success"/);
  });
});
