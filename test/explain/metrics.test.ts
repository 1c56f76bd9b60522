import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Explanation, TargetExplanation } from '../../src/addons/explain/explanation/explanation.ts';
import { explain } from '../../src/addons/explain/explain/explain.testkit.ts';
import { KEY, until, type TestGateway } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { anthropicReply, entriesFor, json, openaiChunk, openaiReply, sse, type Script } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'Hi' }];
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const plain: Script = (_, res) => json(res, openaiReply('Hello', { usage }));
const streamed: Script = (_, res) =>
  sse(res, [openaiChunk({ content: 'Hello' }), { ...openaiChunk({}, 'stop'), usage }, '[DONE]']);

const gateway = {
  kept: { provider: '@openai', override_params: { model: 'm' }, cache: { mode: 'exact' } },
  lossy: { provider: '@claude', override_params: { model: 'claude-sonnet-4-5', max_tokens: 10 } },
  second: {
    provider: '@openai',
    strategy: { mode: 'fallback' },
    targets: [{ override_params: { model: 'first' } }, { override_params: { model: 'm' } }],
  },
};

type Series = TargetExplanation['metrics'][number];

interface Case {
  readonly path?: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly script?: Script;
}

const CHAT = '/v1/chat/completions';
const headersOf = ({ headers = {} }: Case): Record<string, string> => ({
  'content-type': 'application/json',
  authorization: `Bearer ${KEY}`,
  ...headers,
});

/** Explains a request and sends it: the counters that were told, and those that have moved. */
async function both(request: Case, target = 0) {
  const { gateway: served, upstream } = await startPair(request.script ?? plain, { gateway });
  const catalog = { providers: entriesFor(upstream.url) };
  const keys = { keys: [{ id: 'test', key: KEY }] };
  const { path = CHAT, body: json } = request;
  const { targets } = await explain({ catalog, keys, gateway }, { path, headers: headersOf(request), json });
  return { reported: linesOf(targets[target]!.metrics), ...(await send(served, request)) };
}

/** Sends it, and says which counters have moved when it has been recorded. */
async function send(served: TestGateway, request: Case) {
  const { url, statusUrl } = served;
  const { path = CHAT, body } = request;
  const recorded = (): number => served.logs.filter(({ route }) => route !== undefined).length;
  const [before, so] = [await counters(statusUrl), recorded()];
  const text = JSON.stringify({ messages, ...body });
  const response = await fetch(url + path, { method: 'POST', headers: headersOf(request), body: text });
  await response.text();
  await until(() => recorded() > so, 'the request has been recorded');
  const after = await counters(statusUrl);
  const moved = [...after].filter(([series, value]) => value !== before.get(series)).map(([series]) => series);
  return { status: response.status, moved: moved.toSorted() };
}

/** Series of counters and their values. */
async function counters(statusUrl: string): Promise<ReadonlyMap<string, string>> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text();
  const names = new Set([...text.matchAll(/^# TYPE (gatehouse_\w+) counter$/gm)].map(([, name]) => name));
  const lines = text.split('\n').filter((one) => names.has(/^\w+/.exec(one)?.[0]));
  return new Map(lines.map((one) => [one.slice(0, one.lastIndexOf(' ')), one.slice(one.lastIndexOf(' ') + 1)]));
}

const line = ({ name, labels }: Series): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(',')}}`;

const linesOf = (metrics: TargetExplanation['metrics']): readonly string[] => metrics.map(line).toSorted();

const vectors = (res: ServerResponse): void =>
  json(res, {
    object: 'list',
    model: 'm',
    data: [{ object: 'embedding', index: 0, embedding: [0.1] }],
    usage: { prompt_tokens: 3, total_tokens: 3 },
  });

describe('the metrics that explain tells', () => {
  it.each<[string, Case]>([
    ['a plain answer', { body: { model: '@openai/m' } }],
    [
      'a stream',
      { body: { model: '@openai/m', stream: true, stream_options: { include_usage: true } }, script: streamed },
    ],
    ['a target with a cache', { body: { model: 'm' }, headers: { 'x-gateway-config': 'kept' } }],
    [
      'a refresh',
      { body: { model: 'm' }, headers: { 'x-gateway-config': 'kept', 'x-gateway-cache-force-refresh': 'true' } },
    ],
    ['a request that no cache answers', { body: { model: 'm', store: true }, headers: { 'x-gateway-config': 'kept' } }],
    [
      'parameters that are lost',
      {
        body: { model: 'm', seed: 1, logit_bias: { 1: 1 } },
        headers: { 'x-gateway-config': 'lossy' },
        script: (_, res) => json(res, { ...anthropicReply('Hello'), model: 'claude-sonnet-4-5' }),
      },
    ],
    [
      'embeddings',
      {
        path: '/v1/embeddings',
        body: { model: '@openai/m', input: 'Hi', messages: undefined },
        script: (_, res) => vectors(res),
      },
    ],
    [
      'a count of tokens',
      {
        path: '/v1/messages/count_tokens',
        body: { model: '@claude/claude-sonnet-4-5' },
        script: (_, res) => json(res, { input_tokens: 3 }),
      },
    ],
  ])('are those that have moved when the request was served: %s', async (_, request) => {
    const { status, reported, moved } = await both(request);
    expect([status, reported]).toEqual([200, moved]);
  });

  it('are those of a kept reply, where one is there by now', async () => {
    const { gateway: served } = await startPair(plain, { gateway });
    const request: Case = { body: { model: 'm' }, headers: { 'x-gateway-config': 'kept' } };
    const tell = async (): Promise<readonly string[]> => {
      const question = { headers: headersOf(request), body: { messages, ...request.body } };
      const response = await fetch(`${served.gateway.admin!.url}/admin/v1/explain`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(question),
      });
      return linesOf(((await response.json()) as Explanation).targets[0]!.metrics);
    };
    for (const cache of ['miss', 'hit']) {
      const reported = await tell();
      const { status, moved } = await send(served, request);
      expect([status, reported]).toEqual([200, moved]);
      expect(reported).toContain(`gatehouse_cache_requests_total{mode="exact",result="${cache}"}`);
    }
  });

  it('are of each target what its own good answer adds', async () => {
    const script: Script = (request, res, index) =>
      request.json['model'] === 'first' ? json(res, { error: { message: 'no' } }, 503) : plain(request, res, index);
    const request = { body: { model: 'x' }, headers: { 'x-gateway-config': 'second' }, script };
    const { status, reported, moved } = await both(request, 1);
    expect([status, moved]).toEqual([200, expect.arrayContaining([...reported])]);
    const ofTheFirst = moved.filter((series) => !reported.includes(series));
    expect(ofTheFirst.map((series) => series.replace(/\{.*/, ''))).toEqual([
      'gatehouse_fallbacks_total',
      'gatehouse_upstream_attempts_total',
      'gatehouse_upstream_failures_total',
    ]);
  });

  it('are none where the target would refuse the request', async () => {
    const catalog = { providers: entriesFor('http://127.0.0.1:9') };
    const headers = { 'x-gateway-config': 'lossy', 'x-gateway-strict-params': 'true' };
    const { targets } = await explain({ catalog, gateway }, { headers, json: { model: 'm', seed: 1 } });
    expect(targets[0]).toMatchObject({ refused: { code: 'unsupported_parameter' }, metrics: [] });
  });
});
