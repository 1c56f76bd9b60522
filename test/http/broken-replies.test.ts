import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { json, startUpstream, type ScriptedUpstream, type SeenRequest } from '../support/upstream.ts';
import { apiOf, APIS, DOORS, END, PARTS, PLAIN, STREAMS, type Api, type Kind } from './broken-replies.testkit.ts';

/** Replies with status 200 that are no answer, at every door and from every upstream API. */

/** Signs of an answer that ended well. */
const ENDED =
  /"finish_reason":"(?!error)|\[DONE\]|"stop_reason":"(?:end_turn|tool_use)"|message_stop|response\.completed|"type":"function_call"[^{}]*"status":"completed"|"finishReason": ?"/;
const ERROR = /"error": ?\{|event: error|response\.failed/;

/** Resolves when the client has received content, so that the upstream breaks only after it. */
let begins = Promise.withResolvers<undefined>();

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let kind: Kind;
beforeAll(async () => {
  upstream = await startUpstream(async (request, res) => {
    const api = apiOf(request);
    const isGood = /rescue/.test(`${request.url} ${String(request.json['model'])}`);
    const parts = PARTS[isGood ? 'good' : kind];
    const streams = request.json['stream'] === true || request.url.includes('streamGenerateContent');
    if (!streams) return json(res, PLAIN[api](parts));
    const [begun = '', end = ''] = STREAMS[api](parts).split(END);
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun);
    if (parts.broken && begun !== '' && kind !== 'none') await begins.promise;
    res.end(end);
  });
  const of = (slug: string, provider: string, base_url: string, more: object = {}) => ({
    slug,
    provider,
    base_url,
    api_key: '${env:NONE:-upstream-secret-key}',
    allow_insecure: true,
    ...more,
  });
  const target = (api: Api, model: string, more: object = {}) => ({
    provider: `@${api}`,
    override_params: { model },
    ...more,
  });
  const per = (suffix: string, config: (api: Api) => object) => APIS.map((api) => [`${api}${suffix}`, config(api)]);
  const pair = (api: Api, strategy: object = {}, more: object = {}) => ({
    strategy: { mode: 'fallback', ...strategy },
    targets: [target(api, 'bad'), target(api, 'rescue')],
    ...more,
  });
  const empty = { on_errors: ['default', 'empty'] };
  const cache = { mode: 'exact', scope: 'config' };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        of('chat', 'openai', `${upstream.url}/v1`, { api: 'chat' }),
        of('responses', 'openai', `${upstream.url}/v1`, { api: 'responses' }),
        of('messages', 'anthropic', upstream.url),
        of('gemini', 'google-ai-studio', upstream.url),
      ],
    },
    gateway: Object.fromEntries([
      ...per('', (api) => pair(api)),
      ...per('-empty', (api) => pair(api, empty)),
      ...per('-reason', (api) => pair(api, { on_finish_reasons: ['stop'] })),
      ...per('-native', (api) => pair(api, { on_finish_reasons: ['end_turn', 'STOP'] })),
      ...per('-broken', (api) => pair(api, {}, { circuit_breaker: { failures: 2, min_requests: 2 } })),
      ...per('-cached', (api) => ({ ...target(api, 'bad'), cache })),
      ...per('-cached-empty', (api) => ({
        strategy: { mode: 'fallback', ...empty },
        targets: [target(api, 'bad'), target(api, 'bad')],
        cache,
      })),
    ]) as Record<string, object>,
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** The requests since the last `forget`. */
const seen = (): readonly SeenRequest[] => upstream.seen.slice(before);
let before = 0;
const forget = (): void => void (before = upstream.seen.length);
beforeEach(forget);

let asked = 0;

async function send(door: Api, stream: boolean, config: string, salt = String((asked += 1))) {
  const [path, body] = DOORS[door](stream, salt);
  begins = Promise.withResolvers();
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': config },
    body: JSON.stringify(body),
  });
  begins.resolve(undefined);
  const id = response.headers.get('x-gateway-request-id') ?? response.headers.get('x-request-id');
  return { status: response.status, headers: response.headers, text: await response.text(), id };
}

const line = async (id: string | null): Promise<Record<string, unknown>> => {
  const found = () => gateway.logs.find((one) => one['request_id'] === id && one['status'] !== undefined);
  await until(() => found() !== undefined, `the access line of ${id}`);
  return found()!;
};

const ways = APIS.flatMap((door) => APIS.flatMap((api) => [true, false].map((stream) => [door, api, stream] as const)));

describe.each(ways)('at the door %s, from an upstream of %s (stream: %s)', (door, api, stream) => {
  it('a generation that breaks before content goes to the next target', async () => {
    kind = 'none';
    const { status, text } = await send(door, stream, api);
    expect([status, text.includes('rescued'), ERROR.test(text)]).toEqual([200, true, false]);
    expect(seen()).toHaveLength(2);
  });

  it.each(['half', 'call'] as const)('one that breaks behind content is an error, never an end: %s', async (broken) => {
    kind = broken;
    const { status, text, id } = await send(door, stream, api);
    if (!stream) return expect([status, text.includes('rescued'), text.includes('half')]).toEqual([200, true, false]);
    expect(text).toMatch(ERROR);
    expect(text).not.toMatch(ENDED);
    expect(text).not.toContain('rescued');
    expect(await line(id)).toMatchObject({ error_code: 'upstream_error', error_type: 'server_error' });
  });

  it('none of them is cached', async () => {
    kind = 'half';
    for (let round = 0; round < 2; round += 1) await send(door, stream, `${api}-cached`, `broken ${door} ${stream}`);
    expect(seen()).toHaveLength(2);
  });

  it.each(['empty', 'thought'] as const)(
    'an empty answer is a failure only where the config says so: %s',
    async (nothing) => {
      kind = nothing;
      const usual = await send(door, stream, api);
      expect([usual.status, usual.text.includes('rescued')]).toEqual([200, false]);
      const other = await send(door, stream, `${api}-empty`);
      expect([other.status, other.text.includes('rescued')]).toEqual([200, true]);
    },
  );

  it('an answer behind thoughts is no failure', async () => {
    kind = 'late';
    expect((await send(door, stream, `${api}-empty`)).text).toContain('rescued');
    expect(seen()).toHaveLength(1);
  });

  it('an empty answer of the last target stands, and is not cached', async () => {
    kind = 'empty';
    const salt = `empty ${door} ${stream}`;
    // The entry that a config without the rule has cached does not count either.
    await send(door, stream, `${api}-cached`, salt);
    for (let round = 1; round <= 2; round += 1) {
      forget();
      const { status, headers } = await send(door, stream, `${api}-cached-empty`, salt);
      expect([status, headers.get('x-gateway-cache-status')]).toEqual([200, 'MISS']);
      expect(seen()).toHaveLength(2);
    }
  });

  it('a chosen finish reason is a failure before content', async () => {
    kind = stream ? 'empty' : 'late';
    for (const suffix of ['-reason', ...(api === 'messages' || api === 'gemini' ? ['-native'] : [])]) {
      forget();
      expect((await send(door, stream, `${api}${suffix}`)).text).toContain('rescued');
      expect(seen()).toHaveLength(2);
    }
  });
});

describe('a broken generation behind content', () => {
  it.each(APIS)('is a failure for metrics and breakers: %s', async (api) => {
    kind = 'half';
    for (let round = 0; round < 2; round += 1) await line((await send('chat', true, `${api}-broken`)).id);
    forget();
    // The breaker is open now, so the first target is not asked.
    expect((await send('chat', true, `${api}-broken`)).text).toContain('rescued');
    expect(seen()).toHaveLength(1);
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    const failed = metrics.split('\n').filter((one) => one.startsWith('gatehouse_upstream_failures_total'));
    expect(failed.find((one) => one.includes(`provider="${api}"`) && one.includes('"server_error"'))).not.toMatch(
      / 0$/,
    );
    expect(metrics).toMatch(
      new RegExp(`gatehouse_upstream_target_healthy\\{config="${api}-broken",target="config.targets\\[0\\]".* 0`),
    );
  });
});
