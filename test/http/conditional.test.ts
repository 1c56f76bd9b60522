import { afterEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  json,
  openaiReply,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

const echo: Script = (request, res) =>
  json(res, request.url.includes('messages') ? anthropicReply('claude') : openaiReply('openai'));

async function start(configs: Record<string, object>, script: Script = echo): Promise<void> {
  upstream = await startUpstream(script);
  gateway = await startTestGateway({
    catalog: { providers: entriesFor(upstream.url, {}) },
    keys: { keys: [{ id: 'test', key: KEY, inline_configs: true }] },
    gateway: configs,
  });
}

interface Asked {
  readonly config?: string | object;
  readonly headers?: Record<string, string>;
  readonly body?: object;
  readonly path?: string;
}

async function ask({ config = 'it', headers = {}, body = {}, path = '/v1/chat/completions' }: Asked = {}) {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config),
      ...headers,
    },
    body: JSON.stringify({ model: 'asked', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
  const { error } = (await response.json()) as { error?: { code: string; message: string; param: string | null } };
  return {
    status: response.status,
    option: response.headers.get('x-gateway-last-used-option-index'),
    model: upstream.seen.at(-1)?.json['model'],
    error,
  };
}

const target = (name: string) => ({ name, provider: '@openai', override_params: { model: name } });
// oxlint-disable-next-line unicorn/no-thenable -- conditions have the key `then`, and no code awaits one
const when = (query: object, then: string) => ({ query, then });

const byAll = {
  strategy: {
    mode: 'conditional',
    conditions: [
      when({ 'metadata.plan': { $in: ['paid', 'team'] } }, 'paid'),
      when({ 'headers.X-Team': { $regex: '^search-' } }, 'team'),
      when({ 'params.tools.0.function.name': 'lookup', 'params.max_tokens': { $gte: 5 } }, 'tools'),
      when({ $and: [{ model: { $regex: '(?i)^GPT' } }, { $not: { model: 'gpt-old' } }] }, 'model'),
      when({ $or: [{ operation: 'messages' }, { path: '/v1/none' }] }, 'operation'),
    ],
    default: 'other',
  },
  targets: ['paid', 'team', 'tools', 'model', 'operation', 'other'].map(target),
};

describe('a conditional', () => {
  const tools = [{ type: 'function', function: { name: 'lookup' } }];

  it.each<[string, Asked, string]>([
    ['metadata', { headers: { 'x-gateway-metadata': '{"plan":"paid"}' } }, 'paid'],
    ['other metadata', { headers: { 'x-gateway-metadata': '{"plan":"free"}' } }, 'other'],
    ['a header', { headers: { 'x-team': 'search-ranking' } }, 'team'],
    ['a header that says something else', { headers: { 'x-team': 'research' } }, 'other'],
    ['a field of the body', { body: { tools } }, 'tools'],
    ['a field of the body, but not another one', { body: { tools, max_tokens: 4 } }, 'other'],
    ['the model as the request writes it', { body: { model: 'gpt-new' } }, 'model'],
    ['a model that is excepted', { body: { model: 'gpt-old' } }, 'other'],
    ['the operation', { path: '/v1/messages' }, 'operation'],
    ['the first of two that hold', { body: { model: 'gpt-new', tools }, headers: { 'x-team': 'search-x' } }, 'team'],
    ['nothing', {}, 'other'],
  ])('chooses by %s', async (_, asked, name) => {
    await start({ it: byAll });
    const index = byAll.targets.findIndex((one) => one.name === name);
    expect(await ask(asked)).toMatchObject({ status: 200, option: `config.targets[${index}]`, model: name });
  });

  it('chooses by a field deep in a body that is not parsed whole', async () => {
    await start({
      it: {
        strategy: {
          mode: 'conditional',
          conditions: [when({ 'params.messages.1.content': { $regex: 'needle$' } }, 'long')],
          default: 'other',
        },
        targets: [target('long'), target('other')],
      },
    });
    const content = `${'hay '.repeat(40_000)}needle`;
    const messages = [
      { role: 'system', content: 'short' },
      { role: 'user', content },
    ];
    expect(await ask({ body: { messages } })).toMatchObject({ status: 200, model: 'long' });
    expect(await ask({ body: { messages: messages.toReversed() } })).toMatchObject({ status: 200, model: 'other' });
  });

  it('refuses a request whose text is too long for its patterns, and sends it nowhere', async () => {
    const conditions = [when({ 'params.messages.0.content': { $regex: '(secret|private)' } }, 'safe')];
    const targets = [target('safe'), target('other')];
    await start({ it: { strategy: { mode: 'conditional', conditions, default: 'other' }, targets } });
    const messages = [{ role: 'user', content: 'x'.repeat(5_000_000) }];
    expect(await ask({ body: { messages } })).toMatchObject({
      status: 413,
      error: { code: 'request_too_large', param: 'messages.0.content' },
    });
    expect(upstream.seen).toEqual([]);
  });

  it('does not go on to another of its targets when the chosen one fails', async () => {
    await start({ it: byAll }, (_, res) => json(res, { error: { message: 'no' } }, 503));
    expect(await ask({ headers: { 'x-team': 'search-x' } })).toMatchObject({ status: 503 });
    expect(upstream.seen.map(({ json: { model } }) => model)).toEqual(['team']);
  });
});

describe('a conditional inside a fallback', () => {
  const nested = {
    strategy: { mode: 'fallback' },
    targets: [
      {
        strategy: { mode: 'conditional', conditions: [when({ 'metadata.eu': 'yes' }, 'eu')], default: 'us' },
        targets: [target('eu'), target('us')],
      },
      target('last'),
    ],
  };
  const failing: Script = (request, res, index) =>
    request.json['model'] === 'last' ? echo(request, res, index) : json(res, { error: { message: 'no' } }, 503);

  it.each<[string, Record<string, string>, string]>([
    ['a condition that holds', { 'x-gateway-metadata': '{"eu":"yes"}' }, 'eu'],
    ['none that does', {}, 'us'],
  ])('gives way to the next target after the one chosen by %s', async (_, headers, first) => {
    await start({ it: nested }, failing);
    expect(await ask({ headers })).toMatchObject({ status: 200, option: 'config.targets[1]', model: 'last' });
    expect(upstream.seen.map(({ json: { model } }) => model)).toEqual([first, 'last']);
  });

  it.each<[string, Record<string, string>, object]>([
    [
      'the condition that held',
      { 'x-gateway-metadata': '{"eu":"yes"}' },
      { held: 'conditions[0]', to: 'config.targets[0].targets[0]' },
    ],
    ['that none did', {}, { held: 'default', to: 'config.targets[0].targets[1]' }],
  ])('leaves a record of %s', async (_, headers, reported) => {
    await start({ it: nested }, failing);
    await ask({ headers });
    const kept = (await gateway.gateway.records({ limit: 1 })) as { request_id: string }[];
    const record = await gateway.gateway.record(kept[0]!.request_id);
    expect(record).toMatchObject({ conditions: [{ at: 'config.targets[0]', ...reported }] });
  });

  it('may have a fallback of its own behind a condition', async () => {
    const inner = {
      name: 'careful',
      strategy: { mode: 'fallback' },
      targets: [target('one'), target('last')],
    };
    const strategy = { mode: 'conditional', conditions: [when({ model: 'x' }, 'careful')], default: 'other' };
    await start({ it: { strategy, targets: [target('other'), inner] } }, failing);
    expect(await ask({ body: { model: 'x' } })).toMatchObject({ status: 200, option: 'config.targets[1].targets[1]' });
    expect(upstream.seen.map(({ json: { model } }) => model)).toEqual(['one', 'last']);
  });
});

describe('a conditional that comes with a request', () => {
  it('is understood as in a file', async () => {
    await start({});
    const config = { ...byAll, targets: byAll.targets };
    expect(await ask({ config, headers: { 'x-gateway-metadata': '{"plan":"team"}' } })).toMatchObject({
      model: 'paid',
    });
    expect(await ask({ config })).toMatchObject({ model: 'other' });
  });

  it.each<[string, object, string]>([
    ['an operator that there is none of', { model: { $gtt: 1 } }, 'unknown operator `$gtt`; did you mean "$gt"?'],
    ['a credential', { 'headers.authorization': { $exists: true } }, 'may hold a credential'],
    ['a pattern that cannot be read', { model: { $regex: '(' } }, '`$regex` cannot be read'],
  ])('is refused with %s', async (_, query, message) => {
    await start({});
    const strategy = { mode: 'conditional', conditions: [when(query, 'a')], default: 'a' };
    const reply = await ask({ config: { strategy, targets: [target('a')] } });
    expect(reply).toMatchObject({ status: 400, error: { code: 'invalid_config' } });
    expect(reply.error?.message).toContain(message);
    expect(upstream.seen).toEqual([]);
  });
});
