import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { KEY, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { anthropicReply, geminiReply, json, type Script, type ScriptedUpstream } from '../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const echo: Script = (request, res) =>
  json(res, request.url.includes('messages') ? anthropicReply('claude') : geminiReply('gemini'));

const KEYS = { keys: [{ id: 'test', key: KEY, inline_configs: true }] };

async function start(settings: TestSettings, script: Script = echo, draws: readonly number[] = [0]): Promise<void> {
  let draw = 0;
  const options = { random: () => draws[draw++ % draws.length]! };
  ({ upstream, gateway } = await startPair(script, { keys: KEYS, options, ...settings }));
}

const messages = [{ role: 'user' as const, content: 'hi' }];

async function chat(config: string | object, body: object = {}, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.token',
      'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config),
      ...headers,
    },
    body: JSON.stringify({ model: 'gemini-2.5-flash', max_tokens: 5, messages, ...body }),
  });
  const reply = (await response.json()) as { error?: { code: string; message: string; param: string | null } };
  return { status: response.status, headers: response.headers, error: reply.error };
}

const option = (reply: { headers: Headers }) => reply.headers.get('x-gateway-last-used-option-index');

describe('a load balance', () => {
  const balanced = {
    strategy: { mode: 'loadbalance' },
    targets: [
      { provider: '@gemini', weight: 3 },
      { provider: '@claude', weight: 1, override_params: { model: 'claude-3-5-haiku-20241022' } },
    ],
  };

  it('sends each request where its draw falls', async () => {
    await start({ gateway: { it: balanced } }, echo, [0, 0.74, 0.76, 0.99]);
    const used = [];
    for (let index = 0; index < 4; index += 1) used.push(option(await chat('it')));
    expect(used).toEqual(['config.targets[0]', 'config.targets[0]', 'config.targets[1]', 'config.targets[1]']);
  });

  it('gives way to another target when the drawn one fails before its reply has begun', async () => {
    await start(
      { gateway: { it: balanced } },
      (request, res, index) =>
        request.url.includes('messages') ? json(res, { error: {} }, 529) : echo(request, res, index),
      [0.9],
    );
    const reply = await chat('it');
    expect([reply.status, option(reply)]).toEqual([200, 'config.targets[0]']);
    expect(upstream.seen.map(({ url }) => url.includes('messages'))).toEqual([true, false]);
  });

  it('answers with the last failure when all have failed, each tried once', async () => {
    await start({ gateway: { it: balanced } }, (_, res) => json(res, { error: { message: 'no' } }, 503));
    expect((await chat('it')).status).toBe(503);
    expect(upstream.seen).toHaveLength(2);
  });
});

describe('a config that comes with a request', () => {
  it('routes like a stored one', async () => {
    await start({});
    const reply = await chat({ provider: '@claude', override_params: { model: 'claude-3-5-haiku-20241022' } });
    expect([reply.status, reply.headers.get('x-gateway-provider')]).toEqual([200, 'claude']);
  });

  it('works with the openai SDK', async () => {
    await start({});
    const client = new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: 'ya29.token',
      defaultHeaders: { 'x-gateway-api-key': KEY, 'x-gateway-config': JSON.stringify({ provider: '@gemini' }) },
    });
    const answer = await client.chat.completions.create({ model: 'gemini-2.5-flash', messages });
    expect(answer.choices[0]?.message.content).toBe('gemini');
  });

  it('is for keys that may send one', async () => {
    await start({ keys: { keys: [{ id: 'test', key: KEY }] } });
    const reply = await chat({ provider: '@gemini' });
    expect([reply.status, reply.error?.code]).toEqual([403, 'config_not_allowed']);
    expect(upstream.seen).toEqual([]);
  });

  it('cannot reach what its key may not', async () => {
    await start({ keys: { keys: [{ id: 'test', key: KEY, inline_configs: true, providers: ['@gemini'] }] } });
    const reply = await chat({ provider: '@claude' });
    expect([reply.status, reply.error?.code]).toEqual([403, 'provider_not_allowed']);
  });

  it('is refused with the place and the nearest right word, before anything is sent', async () => {
    await start({});
    const reply = await chat({ provider: '@gemini', overide_params: {} });
    expect(reply.error).toMatchObject({
      code: 'invalid_config',
      message: 'x-gateway-config:1:23: unknown key `overide_params`; did you mean "override_params"?.',
    });
    expect(upstream.seen).toEqual([]);
  });

  it('leaves a warning in the log when it speaks Portkey’s words, once', async () => {
    await start({});
    const portkey = { virtual_key: 'gemini' };
    await chat(portkey);
    expect((await chat(portkey)).status).toBe(200);
    expect(gateway.logs.filter(({ msg }) => String(msg).includes('inline config'))).toHaveLength(1);
  });
});

describe('parameters of a target', () => {
  it('are beneath, above and out of what the request says, and go upstream so', async () => {
    await start({
      gateway: {
        it: {
          provider: '@gemini',
          default_params: { temperature: 0.1, top_p: 0.2 },
          override_params: { seed: 7 },
          drop_params: ['stop'],
        },
      },
    });
    await chat('it', { temperature: 0.9, top_p: null, seed: 1, stop: ['x'] });
    expect(upstream.seen[0]?.json['generationConfig']).toEqual({
      maxOutputTokens: 5,
      temperature: 0.9,
      topP: 0.2,
      seed: 7,
    });
  });

  it('supply what a target cannot do without', async () => {
    await start({ gateway: { it: { provider: '@claude', default_params: { max_tokens: 99 } } } });
    await chat('it', { model: 'claude-3-5-haiku-20241022', max_tokens: undefined });
    expect(upstream.seen[0]?.json['max_tokens']).toBe(99);
  });

  it('are checked with the request they are laid over', async () => {
    await start({ gateway: { it: { provider: '@gemini', default_params: { temperature: 'hot' } } } });
    const reply = await chat('it');
    expect([reply.status, reply.error?.code, reply.error?.param]).toEqual([400, 'invalid_request', 'temperature']);
    expect(reply.error?.message).toContain('With the parameters of config');
  });
});

describe('forwarded headers', () => {
  it('reach the upstream as they came, and nothing else does', async () => {
    await start({ gateway: { it: { provider: '@gemini', forward_headers: ['X-Tenant', 'x-absent'] } } });
    await chat('it', {}, { 'x-tenant': 'a, b', 'x-other': 'secret', cookie: 'c=1' });
    const { headers } = upstream.seen[0]!;
    expect(headers['x-tenant']).toBe('a, b');
    for (const name of ['x-absent', 'x-other', 'cookie', 'x-gateway-api-key', 'x-gateway-config'])
      expect(headers, name).not.toHaveProperty(name);
  });

  it('never stand over those of the provider', async () => {
    await start({ gateway: { it: { provider: '@claude', forward_headers: ['anthropic-version'] } } });
    await chat('it', { model: 'claude-3-5-haiku-20241022' }, { 'anthropic-version': '1999-01-01' });
    expect(upstream.seen[0]?.headers['anthropic-version']).toBe('2023-06-01');
  });
});

describe('metadata', () => {
  const rules = {
    provider: '@gemini',
    metadata: { required: ['team'], allowed: { team: ['search', 'ads'] }, labels: true },
  };
  const say = (metadata: object) => ({ 'x-gateway-metadata': JSON.stringify(metadata) });

  it('that the config requires must be there, with a value it allows', async () => {
    await start({ gateway: { it: rules } });
    expect((await chat('it')).error).toMatchObject({ code: 'metadata_rejected' });
    expect((await chat('it', {}, say({ team: 'sales' }))).error).toMatchObject({ code: 'metadata_rejected' });
    expect((await chat('it', {}, { 'x-gateway-metadata': 'team=ads' })).error).toMatchObject({
      code: 'invalid_header',
    });
    expect(upstream.seen).toEqual([]);
    expect((await chat('it', {}, say({ team: 'ads' }))).status).toBe(200);
  });

  it('becomes cost labels on Vertex AI, fitted to its rules; labels of the body win and are not rewritten', async () => {
    await start({ gateway: { it: rules } });
    await chat('it', { labels: { env: 'prod' } }, say({ team: 'ads', Cost_Center: 'Ä 7', env: 'dev' }));
    expect(upstream.seen[0]?.json['labels']).toEqual({ team: 'ads', cost_center: 'ä_7', env: 'prod' });
    const refused = await chat('it', { labels: { Env: 'prod' } }, say({ team: 'ads' }));
    expect([refused.status, refused.error?.param]).toEqual([400, 'labels.Env']);
  });

  it('does not reach upstreams without labels', async () => {
    const claude = { provider: '@claude', override_params: { model: 'claude-3-5-haiku-20241022' } };
    await start({ gateway: { it: { ...rules, ...claude } } });
    expect((await chat('it', {}, say({ team: 'ads' }))).status).toBe(200);
    expect(upstream.seen[0]?.json).not.toHaveProperty('labels');
    expect(upstream.seen[0]?.text).not.toContain('ads');
  });
});
