import { request as httpRequest, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet, startHeldUpstream } from '../cli/workers.testkit.ts';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
  type SeenRequest,
} from '../support/upstream.ts';

/** Every credential a request meets, each a word of its own, and the words of its prompt. */
const MARKS = {
  gatewayKey: 'mark-gateway-key-41d0',
  openaiKey: 'mark-openai-key-9e2b',
  anthropicKey: 'mark-anthropic-key-77c5',
  entryHeader: 'mark-entry-header-5a5a',
  callerToken: 'mark-caller-token-c31f',
  cookie: 'mark-cookie-18aa',
  proxy: 'mark-proxy-credential-6b6b',
  otherHeader: 'mark-internal-header-d00d',
  hop: 'mark-hop-header-0f0f',
  plan: 'mark-asked-header-2b2b',
  prompt: 'mark-prompt-e4e4',
} as const;
type Mark = keyof typeof MARKS;

const DIALECTS = ['openai', 'anthropic', 'gemini'] as const;
type Dialect = (typeof DIALECTS)[number];

/** Credentials each upstream is given; those of another one, or of the gateway itself, never. */
const OWN: Readonly<Record<Dialect, readonly Mark[]>> = {
  openai: ['openaiKey', 'entryHeader'],
  anthropic: ['anthropicKey'],
  gemini: ['callerToken'],
};
const MODELS: Readonly<Record<Dialect, string>> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-3-5-haiku-20241022',
  gemini: 'gemini-2.5-flash',
};

/** What an upstream does; each says back what it was sent, as far as it says anything. */
type Fault = (request: SeenRequest, res: ServerResponse, dialect: Dialect) => unknown;

const said = ({ headers }: SeenRequest): string => JSON.stringify(headers);
const errorBody = (request: SeenRequest, status: number, code: string) => ({
  type: 'error',
  error: { code: status === 400 ? code : status, type: code, status: code, message: `${code}: ${said(request)}` },
});
const refuse =
  (status: number, code: string, headers: Record<string, string> = {}): Fault =>
  (request, res) =>
    json(res, errorBody(request, status, code), status, { 'set-cookie': `s=${MARKS.openaiKey}`, ...headers });

/** In every word an error has, and some that only one dialect has. */
const quoting: Fault = ({ headers }, res) => {
  const word = [headers.authorization ?? headers['x-api-key'], headers['x-entry']].join(' ').replace('Bearer ', '');
  const error = { message: word, type: word, code: word, param: word, status: word, details: [{ reason: word }] };
  json(res, { type: 'error', request_id: 'r', error }, 400, { 'retry-after': word, 'x-should-retry': word });
};

const FIRST: Readonly<Record<Dialect, readonly object[]>> = {
  openai: [openaiChunk({ role: 'assistant', content: 'so' })],
  anthropic: anthropicEvents('so').slice(0, 3),
  gemini: [{ candidates: [{ content: { role: 'model', parts: [{ text: 'so' }] }, index: 0 }] }],
};
const isStream = ({ text, url }: SeenRequest) => text.includes('"stream":true') || url.includes('stream');

const FAULTS: Readonly<Record<string, Fault>> = {
  healthy: (request, res, dialect) => answer(request, res, dialect),
  'rate limit': refuse(429, 'rate_limit_error', { 'retry-after-ms': '1' }),
  'server error': refuse(500, 'api_error'),
  'refused credentials': refuse(401, 'authentication_error'),
  'refused request': refuse(400, 'invalid_request_error'),
  'credentials in every word': quoting,
  'context length': refuse(400, 'context_length_exceeded'),
  'content filter': refuse(400, 'content_filter'),
  overloaded: refuse(529, 'overloaded_error'),
  reset: (_, res) => void res.socket?.resetAndDestroy(),
  'HTML with 200': (request, res) =>
    res.writeHead(200, { 'content-type': 'text/html' }).end(`<html>${said(request)}</html>`),
  redirect: (request, res) =>
    res.writeHead(307, { location: `http://127.0.0.1:1/?key=${MARKS.openaiKey}` }).end(said(request)),
  'error as the first event': (request, res) => sse(res, [errorBody(request, 400, 'invalid_request_error')]),
  'error event after content': (request, res, dialect) =>
    sse(res, [...FIRST[dialect], errorBody(request, 400, 'invalid_request_error')]),
  cut: (_, res, dialect) => sse(res, [...FIRST[dialect], null]),
  malformed: (request, res, dialect) =>
    sse(res, [...FIRST[dialect], `data: {"broken": [${said(request)}\n\n`.replace(/\}(?=\n)/, '')]),
  silence: () => {},
};

function answer(request: SeenRequest, res: ServerResponse, dialect: Dialect): unknown {
  if (request.url.includes('countTokens') || request.url.includes('count_tokens'))
    return json(res, { totalTokens: 3, input_tokens: 3 });
  if (request.url.includes('embed'))
    return json(res, { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] });
  if (request.url.includes(':predict'))
    return json(res, {
      predictions: [{ bytesBase64Encoded: 'AAAA', mimeType: 'image/png', embeddings: { values: [0.5] } }],
    });
  if (request.url.includes('images')) return json(res, { created: 1, data: [{ b64_json: 'AAAA' }] });
  if (!isStream(request))
    return json(res, { openai: openaiReply, anthropic: anthropicReply, gemini: geminiReply }[dialect]('hi'));
  if (dialect === 'anthropic') return sse(res, anthropicEvents('hi'));
  if (dialect === 'gemini') return sse(res, [geminiReply('hi')]);
  return sse(res, [openaiChunk({ role: 'assistant', content: 'hi' }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n']);
}

const messages = [{ role: 'user', content: MARKS.prompt }];
/** Every operation that asks a model, as `path` and body. */
const OPERATIONS: Readonly<Record<string, (model: string) => { path: string; body: object }>> = {
  chat: (model) => ({ path: '/v1/chat/completions', body: { model, max_tokens: 5, messages } }),
  'chat, streamed': (model) => ({
    path: '/v1/chat/completions',
    body: { model, max_tokens: 5, messages, stream: true },
  }),
  messages: (model) => ({ path: '/v1/messages', body: { model, max_tokens: 5, messages } }),
  'messages, streamed': (model) => ({ path: '/v1/messages', body: { model, max_tokens: 5, messages, stream: true } }),
  'token count': (model) => ({ path: '/v1/messages/count_tokens', body: { model, messages } }),
  embeddings: () => ({ path: '/v1/embeddings', body: { model: 'text-embedding-005', input: MARKS.prompt } }),
  images: () => ({ path: '/v1/images/generations', body: { model: 'imagen-4.0-generate-001', prompt: MARKS.prompt } }),
  'token count of Vertex AI': () => ({
    path: '/v1/projects/p-1/locations/us-central1/publishers/google/models/gemini-2.5-flash:countTokens',
    body: { contents: [{ role: 'user', parts: [{ text: MARKS.prompt }] }] },
  }),
};

/** Request headers that may reach an upstream. What is not here was never decided to go out. */
const OUTBOUND = new Set([
  'host',
  'connection',
  'accept-encoding',
  'content-length',
  'content-type',
  'authorization',
  'x-api-key',
  'anthropic-version',
  'anthropic-beta',
  'x-entry',
  'x-tenant',
]);

const IS_PAID = { 'headers.x-plan': { $regex: '^mark-asked' }, 'headers.x-hop': { $exists: false } };

let fault: Fault = FAULTS.healthy!;
let upstreams: Readonly<Record<Dialect, ScriptedUpstream>>;
let collector: ScriptedUpstream;
let gateway: TestGateway;
/** What clients were told. */
const reported: string[] = [];

beforeAll(async () => {
  const start = (dialect: Dialect) => startUpstream((request, res) => void fault(request, res, dialect));
  upstreams = { openai: await start('openai'), anthropic: await start('anthropic'), gemini: await start('gemini') };
  collector = await startUpstream((_, res) => json(res, {}));
  const at = (dialect: Dialect) => ({ slug: dialect, base_url: upstreams[dialect].url, allow_insecure: true });
  const target = (dialect: Dialect) => ({ provider: `@${dialect}`, override_params: { model: MODELS[dialect] } });
  const settings = {
    server: {
      header_prefixes: ['gateway', 'portkey'],
      timeouts: { first_byte: 60, first_content: 80, idle: 60 },
      telemetry: {
        traces: { endpoint: `${collector.url}/v1/traces`, protocol: 'http/json' },
        log: { level: 'debug' },
      },
    },
    catalog: {
      providers: [
        {
          ...at('openai'),
          base_url: `${upstreams.openai.url}/v1`,
          provider: 'openai',
          api_key: '${env:OPENAI}',
          secret_headers: { 'x-entry': '${env:ENTRY}' },
        },
        { ...at('anthropic'), provider: 'anthropic', api_key: '${env:ANTHROPIC}' },
        { slug: 'none', provider: 'openai', base_url: 'http://127.0.0.1:1/v1', allow_insecure: true },
        { ...at('gemini'), provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1' },
      ],
    },
    keys: { keys: [{ id: 'k', key: '${env:GATEWAY}', inline_configs: true }] },
    gateway: Object.fromEntries(
      DIALECTS.flatMap((first) => {
        const others = DIALECTS.filter((other) => other !== first).map(target);
        const chain = {
          strategy: { mode: 'fallback' },
          retry: { attempts: 1, min_delay: '1ms', max_delay: '1s' },
          circuit_breaker: { failures: 3, cooldown: '1ms' },
          forward_headers: ['x-tenant'],
        };
        return [
          [first, { ...chain, targets: [target(first), ...others] }],
          // What a condition asks of the request stays here like the rest.
          [
            `${first}-complete`,
            {
              ...chain,
              commit: 'complete',
              // oxlint-disable-next-line unicorn/no-thenable -- conditions have the key `then`, and no code awaits one
              strategy: { mode: 'conditional', conditions: [{ query: IS_PAID, then: 'paid' }], default: 'none' },
              targets: [
                { name: 'none', provider: '@none' },
                { name: 'paid', strategy: chain.strategy, targets: [target(first), ...others] },
              ],
            },
          ],
          // Operations that are not for every model go where the entry leads.
          [`${first}-own`, { provider: `@${first}`, retry: { attempts: 1, min_delay: '1ms' } }],
        ];
      }),
    ),
  };
  const env = {
    GATEWAY: MARKS.gatewayKey,
    OPENAI: MARKS.openaiKey,
    ANTHROPIC: MARKS.anthropicKey,
    ENTRY: MARKS.entryHeader,
  };
  gateway = await startTestGateway(settings, { env });
}, 30_000);

afterAll(async () => {
  await gateway.close();
  await Promise.all([...Object.values(upstreams), collector].map((one) => one.close()));
});

/** By hand: `fetch` would not send the headers of the connection. */
function ask(path: string, body: object, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const sent = httpRequest(`${gateway.url}${path}`, { method: 'POST', headers }, (response) => {
      const pieces: Buffer[] = [];
      const done = (): void => {
        reported.push(inspect(response.headers), Buffer.concat(pieces).toString());
        resolve(response.statusCode ?? 0);
      };
      response.on('data', (piece: Buffer) => void pieces.push(piece)).on('close', done);
      response.on('error', () => {});
    });
    sent.on('error', () => resolve(0));
    sent.end(JSON.stringify(body));
  });
}

const SENT = {
  'content-type': 'application/json',
  'x-portkey-api-key': MARKS.gatewayKey,
  authorization: `Bearer ${MARKS.callerToken}`,
  cookie: `session=${MARKS.cookie}`,
  'proxy-authorization': `Basic ${MARKS.proxy}`,
  'x-internal-token': MARKS.otherHeader,
  connection: 'keep-alive, x-hop',
  'x-hop': MARKS.hop,
  'x-plan': MARKS.plan,
  te: 'trailers',
  'x-forwarded-for': '203.0.113.7',
  'x-tenant': 'search',
  'accept-language': 'de',
};

const only = process.env['FAULT'];
const cases = Object.keys(FAULTS)
  .filter((name) => only === undefined || name === only)
  .flatMap((name) => DIALECTS.map((dialect) => [name, dialect] as const));

describe.each(cases)('with %s at the upstream of %s', (name, dialect) => {
  it('each upstream gets its own credentials and the headers of the settings, and no output shows a credential', async () => {
    fault = (request, res, at) => (at === dialect ? FAULTS[name]!(request, res, at) : answer(request, res, at));
    const before = new Map(DIALECTS.map((each) => [each, upstreams[each].seen.length]));
    for (const [operation, make] of Object.entries(OPERATIONS)) {
      const { path, body } = make(MODELS[dialect]);
      const shared = /^(?:chat|messages)/.test(operation);
      const configs = shared ? [dialect, `${dialect}-complete`] : [`${dialect}-own`];
      for (const config of configs)
        await ask(path, body, { ...SENT, 'x-portkey-config': config, 'x-portkey-trace-id': 'a'.repeat(32) });
    }
    for (const each of DIALECTS) {
      for (const { headers, url } of upstreams[each].seen.slice(before.get(each))) {
        const strange = Object.keys(headers).filter((header) => !OUTBOUND.has(header));
        expect(strange, `headers at ${each}`).toEqual([]);
        const head = JSON.stringify([headers, url]);
        const seen = (Object.keys(MARKS) as Mark[]).filter((mark) => head.includes(MARKS[mark]));
        expect(
          seen.filter((mark) => !OWN[each].includes(mark)),
          `credentials at ${each}`,
        ).toEqual([]);
        expect(headers.connection).toBe('keep-alive');
      }
    }
  });
});

describe('what leaves the process', () => {
  it('holds no credential and no word of a prompt, in replies, logs, traces, metrics, health and records', async () => {
    await until(() => gateway.logs.some(({ msg }) => msg === 'request completed'), 'a request was logged');
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    const health = await (await fetch(`${gateway.statusUrl}/readyz?verbose`)).text();
    const admin = gateway.gateway.admin?.url;
    const list = await (await fetch(`${admin}/admin/v1/requests?limit=200`)).text();
    const records = await Promise.all(
      gateway.logs
        .flatMap(({ request_id: id }) => (typeof id === 'string' ? [id] : []))
        .slice(-50)
        .map(async (id) => (await fetch(`${admin}/admin/v1/requests/${id}`)).text()),
    );
    await gateway.close();
    const spans = collector.seen.map(({ text }) => text);
    const leaving = {
      reported,
      log: [gateway.logText()],
      metrics: [metrics],
      health: [health],
      spans,
      records: [list, ...records],
    };
    for (const [what, texts] of Object.entries(leaving)) {
      const all = texts.join('\n');
      expect(all.length, what).toBeGreaterThan(20);
      // A record has the values that its conditions compared.
      for (const [name, mark] of Object.entries(MARKS))
        expect(all.includes(mark), `${name} in ${what}`).toBe(name === 'plan' && what === 'records');
    }
    // They were in play: every upstream had its own.
    for (const each of DIALECTS) {
      const sent = JSON.stringify(upstreams[each].seen.map(({ headers }) => headers));
      expect(OWN[each].filter((mark) => !sent.includes(MARKS[mark]))).toEqual([]);
      expect(sent).toContain('"x-tenant":"search"');
    }
  });
});

describe('what the processes of `--workers` write', () => {
  /** Faults that no handler sees, with a credential in all that an error may carry. */
  const CRASH = `
import { definePlugin } from 'gatehouse/plugin';
export default definePlugin({
  name: 'crash',
  level: 'request',
  options: { type: 'object', additionalProperties: false },
  create: () => async ({ exchange }, next) => {
    const [{ content }] = await exchange.request.body.value('messages');
    const error = new Error('crashed with Bearer ' + exchange.upstreamToken.reveal());
    Object.assign(error, { headers: exchange.request.headers, token: exchange.upstreamToken });
    if (content === 'throw') throw error;
    if (content === 'later') setImmediate(() => { throw error; });
    if (content === 'rejection') void Promise.reject(error);
    await next();
  },
});
`;

  it('holds no credential, however one crashes', async () => {
    const upstream = await startHeldUpstream();
    const fleet = new Fleet({
      upstream: upstream.url,
      files: { 'crash.ts': CRASH },
      server: {
        plugins: ['./crash.ts'],
        chains: { request: ['metadata', 'crash', 'route'] },
        drain: { timeout: '100ms' },
      },
    });
    const reported = (text: string): number => fleet.said.split(text).length - 1;
    try {
      const { url } = await fleet.listens();
      const headers = {
        'content-type': 'application/json',
        'x-gateway-api-key': KEY,
        authorization: `Bearer ${MARKS.callerToken}`,
      };
      const crash = async (content: string): Promise<void> => {
        const body = JSON.stringify({ model: '@own/m', messages: [{ role: 'user', content }] });
        // The upstream holds its answer.
        const signal = AbortSignal.timeout(1000);
        await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body, signal }).then(
          (response) => response.text(),
          () => {},
        );
      };
      await crash('throw');
      await until(() => reported('"msg":"a plugin failed"') === 1, 'the log names the plugin that failed');
      await crash('rejection');
      await until(
        () => reported('a plugin left a rejection unhandled') === 1,
        'the log names the plugin that rejected',
      );
      await crash('later');
      await until(() => reported('a worker ended') === 1, 'a worker ended');
      expect([reported('unhandled error; the process ends'), reported('crashed with [secret]') >= 3]).toEqual([
        1,
        true,
      ]);
      for (const mark of [KEY, MARKS.callerToken]) expect(fleet.said).not.toContain(mark);
    } finally {
      await fleet.end();
      await upstream.close();
    }
  }, 60_000);
});
