import { describe, expect, it } from 'vitest';
import { startAdmin } from '../admin/kit.ts';
import { KEY, until } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { anthropicReply, entriesFor, json, openaiReply, startUpstream, type Script } from '../support/upstream.ts';

/** USD per million tokens: 1,000 tokens of answer cost 0.01 USD. */
const prices = { prices: [{ model: 'm*', usd: { input: 0, output: 10 } }] };
const usage = { usage: { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 } };
const answers: Script = (_, res) => json(res, openaiReply('ok', usage));
const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY };
const text = 'hi';

interface Door {
  readonly path: string;
  readonly body: object;
}

const chat: Door = {
  path: '/v1/chat/completions',
  body: { model: 'any', max_tokens: 1000, messages: [{ role: 'user', content: text }] },
};
const generated = {
  contents: [{ role: 'user', parts: [{ text }] }],
  generationConfig: { maxOutputTokens: 1000 },
};
const streamed = ({ path, body }: Door): Door => ({ path, body: { ...body, stream: true } });
const messages: Door = { ...chat, path: '/v1/messages' };
const responses: Door = { path: '/v1/responses', body: { model: 'any', max_output_tokens: 1000, input: text } };

const DOORS: Readonly<Record<string, Door>> = {
  chat,
  'chat, streamed': streamed(chat),
  messages,
  'messages, streamed': streamed(messages),
  responses,
  'responses, streamed': streamed(responses),
  gemini: { path: '/v1beta/models/any:generateContent', body: generated },
  'gemini, streamed': { path: '/v1beta/models/any:streamGenerateContent?alt=sse', body: generated },
};

const FAILURES: Readonly<Record<string, Script>> = {
  'a 500': (_, res) => json(res, { error: { message: 'broken' } }, 500),
  'a 429': (_, res) => json(res, { error: { message: 'slow down' } }, 429),
  silence: () => {},
};

describe.each(Object.entries(FAILURES))('after %s of the primary, a used-up budget of the backup', (what, script) => {
  it.each(Object.entries(DOORS))('is the final error of %s, in log, record and metric', async (_, { path, body }) => {
    const { gateway } = await startPair(script, {
      prices,
      keys: {
        keys: [
          {
            id: 'test',
            key: `\${env:NONE:-${KEY}}`,
            default_config: 'both',
            budgets: [{ cap: '0.001 USD', period: 'month', models: ['m-backup'] }],
          },
        ],
      },
      gateway: {
        both: {
          strategy: { mode: 'fallback' },
          ...(what === 'silence' && { timeouts: { first_byte: '50ms' } }),
          targets: [
            { provider: '@openai', override_params: { model: 'm-primary' } },
            { provider: '@openai', override_params: { model: 'm-backup' } },
          ],
        },
      },
    });
    const reply = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const error = await reply.text();
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([429, 'false']);
    expect(error).toContain('key:test:month:usd:m-backup');
    const id = reply.headers.get('x-gateway-request-id')!;
    await until(() => gateway.gateway.record(id) !== undefined, 'the request has ended');
    const limited = { limited_by: 'key:test:month:usd:m-backup' };
    expect(gateway.gateway.record(id)).toMatchObject({
      ...limited,
      error: { code: 'budget_exceeded' },
      attempts: [{ request_model: 'm-primary' }, { request_model: 'm-backup' }],
    });
    expect(gateway.logs).toContainEqual(expect.objectContaining({ ...limited, error_code: 'budget_exceeded' }));
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toContain('gatehouse_budget_refusals_total{budget="key:test:month:usd:m-backup",why="exceeded"} 1');
  });
});

describe('a budget that cannot cover the longest answer of a model', () => {
  const UNLIMITED = {
    chat: [{ ...chat, body: { ...chat.body, max_tokens: undefined } }, 'max_tokens'],
    responses: [{ ...responses, body: { ...responses.body, max_output_tokens: undefined } }, 'max_output_tokens'],
    gemini: [{ ...DOORS['gemini']!, body: { ...generated, generationConfig: {} } }, 'generationConfig.maxOutputTokens'],
  } as const;

  it.each(Object.entries(UNLIMITED))(
    'tells clients of %s what to send or set',
    async (name, [{ path, body }, field]) => {
      const claude = { provider: '@claude', override_params: { model: 'claude-sonnet-4-5' } };
      const { gateway } = await startPair((_, res) => json(res, anthropicReply('ok')), {
        keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, budgets: [{ cap: '0.5 USD', period: 'month' }] }] },
        gateway: { long: claude, short: { ...claude, default_max_tokens: 1000 } },
      });
      const ask = async (config: string, asked: object = body): Promise<readonly [number, string]> => {
        const reply = await fetch(gateway.url + path, {
          method: 'POST',
          headers: { ...headers, 'x-gateway-config': config },
          body: JSON.stringify(asked),
        });
        return [reply.status, await reply.text()];
      };
      const cure = `The request does not limit its answer: send \`${field}\`, or have \`default_max_tokens\` of the gateway config limit it.`;
      expect(await ask('long')).toEqual([429, expect.stringContaining(cure)]);
      expect((await ask('long', DOORS[name]!.body))[0]).toBe(200);
      expect((await ask('short'))[0]).toBe(200);
    },
  );

  it('does not tell a client to send what it has sent', async () => {
    const { gateway } = await startPair(answers, {
      prices,
      server: { default_config: 'one' },
      gateway: { one: { provider: '@openai', override_params: { model: 'm' } } },
      keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, budgets: [{ cap: '0.001 USD', period: 'hour' }] }] },
    });
    const reply = await fetch(gateway.url + chat.path, { method: 'POST', headers, body: JSON.stringify(chat.body) });
    expect(await reply.text()).not.toContain('does not limit its answer');
  });
});

it.each(['out-50', 'OUT-50', 'Out-50 ', ' out-50', 'ou\u0074-50\u00a0'])(
  'A budget and a limit of the model out-50 count the model %j',
  async (name) => {
    const { gateway } = await startPair(answers, {
      server: { default_config: 'one' },
      gateway: { one: { provider: '@openai' } },
      keys: {
        keys: [
          {
            id: 'test',
            key: `\${env:NONE:-${KEY}}`,
            budgets: [{ cap: '9 tokens', period: 'week', models: ['out-5*'] }],
          },
          {
            id: 'rated',
            key: `\${env:NONE:-${KEY}-rated}`,
            limits: { models: { '@OpenAI/out-50': { requests: '6/min' } } },
          },
        ],
      },
    });
    const ask = async (key: string): Promise<string> => {
      const body = JSON.stringify({ ...chat.body, model: name });
      const reply = await fetch(gateway.url + chat.path, {
        method: 'POST',
        headers: { ...headers, 'x-gateway-api-key': key },
        body,
      });
      return reply.text();
    };
    expect(await ask(KEY)).toContain('The budget key:test:week:tokens:out-5* (9 tokens)');
    expect(await ask(`${KEY}-rated`)).not.toContain('error');
    expect(await ask(`${KEY}-rated`)).toContain('to this model');
  },
);

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

it('The first refusal of a budget is an event of its own, once, also to a webhook for budgets', async () => {
  const receiver = await startUpstream((_, res) => void res.writeHead(204).end());
  const hook = { id: 'ops', url: `\${env:NONE:-${receiver.url}/}`, secret: `\${env:NONE:-${SECRET}}` };
  const { gateway } = await startPair(answers, {
    prices,
    server: { default_config: 'one', alerts: { webhooks: [{ ...hook, allow_insecure: true, kinds: ['budget'] }] } },
    gateway: { one: { provider: '@openai', override_params: { model: 'm' } } },
    keys: {
      keys: [
        { id: 'test', key: `\${env:NONE:-${KEY}}`, budgets: [{ cap: '0.0105 USD', period: 'month', alerts: [100] }] },
      ],
    },
  });
  const ask = async (): Promise<number> => {
    const reply = await fetch(gateway.url + chat.path, { method: 'POST', headers, body: JSON.stringify(chat.body) });
    await reply.text();
    return reply.status;
  };
  expect(await ask()).toBe(200);
  await until(() => gateway.gateway.records({ limit: 1 }).length > 0, 'the request has ended');
  expect([await ask(), await ask()]).toEqual([429, 429]);
  await until(() => receiver.seen.length > 0, 'the event has come');
  expect(receiver.seen.map((seen) => JSON.parse(seen.text) as object)).toMatchObject([
    {
      type: 'exhausted',
      nodes: ['key:test'],
      text: expect.stringMatching(
        /^The budget key:test:month:usd refuses requests: 9 % of 0\.0105 USD are spent and reserved, and a request needs 0\.01 USD\.$/,
      ) as string,
      data: { budget: 'key:test:month:usd', percent: 9, cap: 0.0105, spent: 0.001, held: 0, reserve: 0.01 },
    },
  ]);
  await receiver.close();
});

it('A budget has one name in metrics, log, webhook, admin API and audit', async () => {
  const upstream = await startUpstream(answers);
  const receiver = await startUpstream((_, res) => void res.writeHead(204).end());
  const name = 'team:search:day:usd:m*';
  const admin = await startAdmin({
    prices,
    catalog: { providers: entriesFor(upstream.url) },
    keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, team: 'search' }] },
    teams: { teams: { search: {} } },
    gateway: { default: { provider: '@openai', override_params: { model: 'm' } } },
  });
  const token = await admin.token('admin');
  const ask = (method: string, path: string, body?: object) =>
    admin.ask(method, path, { token, body, headers: { 'if-match': '*' } });
  const url = `${receiver.url}/`;
  await ask('POST', '/alerts', { id: 'ops', spec: { url, secret: SECRET, allow_insecure: true } });
  const spec = { node: 'team:search', cap: '0.001 USD', period: 'day', models: ['m*'] };
  expect((await ask('POST', '/budgets', { id: 'small', spec })).json).toMatchObject({ id: 'small', name });
  const path = `/budgets/${encodeURIComponent(name)}`;
  expect((await ask('GET', path)).json).toMatchObject({ id: 'small', name });
  const reply = await fetch(`${admin.gateway.data.url}${chat.path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(chat.body),
  });
  expect([reply.status, await reply.text()]).toEqual([429, expect.stringContaining(`The budget ${name} (`)]);
  await until(() => receiver.seen.length > 0, 'the event has come');
  expect(JSON.parse(receiver.seen[0]!.text)).toMatchObject({ data: { budget: name } });
  expect((await ask('POST', `${path}:adjust`, { by: '-0.001 USD', reason: 'a refund' })).status).toBe(200);
  expect((await ask('GET', '/audit?object_kind=counter')).json.items[0].id).toMatch(/^team:search:day:usd:m\* 20/);
  admin.gateway.records({ limit: 0 });
  expect(admin.logText()).toContain(`"limited_by":"${name}"`);
  expect(admin.logText()).toContain(`"budget":"${name}"`);
  const metrics = await (await fetch(`${admin.gateway.status.url}/metrics`)).text();
  expect(metrics).toContain(`gatehouse_budget_refusals_total{budget="${name}",why="exceeded"} 1`);
  expect((await ask('PATCH', path, { spec: { cap: '1 USD' } })).json).toMatchObject({ id: 'small', cap: 1e9 });
  expect((await ask('DELETE', path)).status).toBe(204);
  await Promise.all([admin.close(), upstream.close(), receiver.close()]);
});
