import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiReply, type Script } from '../support/upstream.ts';
import { CLIENT_APIS, send } from './client-apis.ts';
import { metricsOf, startOutsideGateway, type OutsidePlugin } from './outside-gateway.ts';

const ok: Script = (_, res) => json(res, openaiReply('hello'));
const request = (name: string) => ({ request: [name, 'metadata', 'route'] });
const entry = (...methods: string[]) => ({
  entry: ['telemetry', 'errors', ...methods, 'limit', 'models', 'body', 'limit-tokens', 'responses', 'config'],
});

const startWith = (plugin: Omit<OutsidePlugin, 'name'>, more: object = {}) =>
  startOutsideGateway({ plugins: [{ name: 'it', ...plugin }], upstream: ok, chains: request('it'), ...more });

async function serve(answer: (body: string) => { status?: number; body?: string }): Promise<Server & AsyncDisposable> {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (piece: Buffer) => (body += piece.toString()));
    req.on('end', () => {
      const { status = 200, body: text = '{}' } = answer(body);
      res.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  });
}
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

const API = pathToFileURL(join(import.meta.dirname, '../../src/plugin/index.ts')).href;
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/plugins/host.md'), 'utf8');

function moduleOf(name: string, text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-host-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, `${name}.mjs`);
  writeFileSync(file, text);
  return file;
}

/** A request of OTLP in JSON. */
interface Exported {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly { readonly name: string; readonly traceId: string; readonly spanId: string }[];
    }[];
  }[];
}

describe('the plugins of docs/plugins/host.md', () => {
  it('keep values', async () => {
    const [, text = ''] = /```js\n(\/\/ configs\/plugins\/first-seen\.mjs\n[\s\S]+?)```/.exec(PAGE) ?? [];
    await using started = await startOutsideGateway({
      plugins: [],
      upstream: ok,
      chains: { request: ['first-seen', 'metadata', 'route'] },
      server: { plugins: [moduleOf('first-seen', text)] },
    });
    const seen: (string | null)[] = [];
    for (let count = 0; count < 2; count += 1) {
      const reply = await started.chat();
      await reply.text();
      seen.push(reply.headers.get('x-first-seen'));
    }
    expect(seen).toEqual(['now', expect.stringMatching(/^\d{4}-\d\d-\d\dT/)]);
  });

  it('ask about tenants once, and refuse those that are blocked', async () => {
    const [, text = ''] = /```js\n(\/\/ configs\/plugins\/tenant-quota\.mjs\n[\s\S]+?)```/.exec(PAGE) ?? [];
    let asked = 0;
    await using service = await serve(() => ((asked += 1), { body: '{"blocked":true}' }));
    const options = { url: urlOf(service), allow_insecure: true };
    await using started = await startOutsideGateway({
      plugins: [],
      upstream: ok,
      chains: { request: [{ plugin: 'tenant-quota', options }, 'metadata', 'route'] },
      server: { plugins: [moduleOf('tenant-quota', text)] },
    });
    for (let count = 0; count < 2; count += 1) {
      const reply = await started.chat();
      expect([reply.status, await reply.json()]).toMatchObject([403, { error: { code: 'tenant_blocked' } }]);
    }
    expect(asked).toBe(1);
    const metrics = await metricsOf(started);
    expect(metrics).toContain('plugin_tenant_quota_asked_total{known="false"} 1');
    expect(metrics).toContain('plugin_tenant_quota_asked_total{known="true"} 1');
  });
});

describe('the host of an external plugin', () => {
  it('counts in metrics of the plugin, which a scrape has', async () => {
    await using started = await startWith({
      body: `
      const seen = host.metrics.counter('seen', { labels: ['operation'] });
      seen.add({ operation: ctx.exchange.operation.id });
      await next();`,
    });
    await (await started.chat()).text();
    expect(await metricsOf(started)).toContain('plugin_it_seen_total{operation="chat.completions"} 1');
  });

  it('refuses a metric that another plugin has, with the places of both', async () => {
    const declares = (name: string) =>
      `export default { ...(await import(${JSON.stringify(API)})).definePlugin({ name: '${name}', level: 'request', create({ host }) {
        host.metrics.counter('${name === 'mask' ? 'mail_hits' : 'hits'}');
        return (_, next) => next();
      } }) };`;
    const modules = ['mask', 'mask-mail'].map((name) => moduleOf(name, declares(name)));
    const started = startOutsideGateway({
      plugins: [],
      upstream: ok,
      chains: { request: ['mask', 'mask-mail', 'metadata', 'route'] },
      server: { plugins: modules },
    });
    const message = /the metric plugin_mask_mail_hits_total is also one of the plugin "mask" at .*server\.yaml:\d+:\d+/;
    await expect(started).rejects.toMatchObject({
      diagnostics: expect.arrayContaining([
        expect.objectContaining({
          message: expect.stringMatching(message),
          file: expect.stringContaining('server.yaml'),
        }),
      ]),
    });
  });

  it('calls a service at the end of a request whose client has left', async () => {
    let reached = 0;
    const heard: string[] = [];
    await using service = await serve((body) => (heard.push(body), {}));
    const hooks = `import { definePlugin } from ${JSON.stringify(API)};
      export default definePlugin({ name: 'ends', level: 'request', reads: { request: 'observe' }, create: ({ host }) => ({
        request() {},
        async end({ state }) { await host.fetch(${JSON.stringify(urlOf(service))}, { body: state, allowInsecure: true }); },
      }) });`;
    await using started = await startOutsideGateway({
      plugins: [],
      upstream: () => void (reached += 1),
      chains: { request: ['ends', 'metadata', 'route'] },
      server: { plugins: [moduleOf('ends', hooks)] },
    });
    const leaving = new AbortController();
    const asked = fetch(`${started.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'x-gateway-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'Hi' }] }),
    }).catch(() => {});
    await until(() => reached > 0, 'the upstream has the request');
    leaving.abort();
    await asked;
    await until(() => heard.length > 0, 'the service is asked');
    expect(heard).toEqual(['aborted']);
  });

  it('keeps caches and counters beyond a reload', async () => {
    await using started = await startWith({
      body: `
      const cache = host.cache({ maxBytes: 10_000, ttl: 60_000 });
      ctx.set('x-count', String(host.counters.add('requests')));
      ctx.set('x-kept', cache.get('word') ?? 'nothing');
      cache.set('word', 'kept');
      await next();`,
      more: `options: { type: 'object', additionalProperties: false, properties: { n: { type: 'number', description: 'n' } } }`,
    });
    const ask = async (): Promise<readonly (string | null)[]> => {
      const reply = await started.chat();
      await reply.text();
      return [reply.headers.get('x-count'), reply.headers.get('x-kept')];
    };
    expect([await ask(), await ask()]).toEqual([
      ['1', 'nothing'],
      ['2', 'kept'],
    ]);
    const file = `${started.gateway.configs}/server.yaml`;
    const server = JSON.parse(readFileSync(file, 'utf8')) as { chains: object };
    const chains = { request: [{ plugin: 'it', options: { n: 1 } }, 'metadata', 'route'] };
    writeFileSync(file, JSON.stringify({ ...server, chains }));
    // The watcher of the files may have been faster.
    expect(['changed', 'unchanged']).toContain((await started.gateway.gateway.reload()).outcome);
    expect(await ask()).toEqual(['3', 'kept']);
  });

  it.each([
    ['in memory', {}],
    ['in the state store', { state: { store: { type: 'memory' } } }],
  ])('keeps values %s beyond a reload', async (_, server) => {
    await using started = await startWith(
      {
        body: `
      ctx.set('x-kept', String(await host.state.get('word')));
      await host.state.set('word', host.ids.uuid());
      await next();`,
        more: `state: true, options: { type: 'object', additionalProperties: false, properties: { n: { type: 'number', description: 'n' } } }`,
      },
      { server },
    );
    const ask = async (): Promise<string | null> => {
      const reply = await started.chat();
      await reply.text();
      return reply.headers.get('x-kept');
    };
    const uuid = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/) as string;
    expect([await ask(), await ask()]).toEqual(['undefined', uuid]);
    const file = `${started.gateway.configs}/server.yaml`;
    const written = JSON.parse(readFileSync(file, 'utf8')) as object;
    const chains = { request: [{ plugin: 'it', options: { n: 1 } }, 'metadata', 'route'] };
    writeFileSync(file, JSON.stringify({ ...written, chains }));
    expect(await started.gateway.gateway.reload()).toMatchObject({ outcome: 'changed' });
    expect(await ask()).toEqual(uuid);
  });

  it('adds spans of the plugin to the trace of the request', async () => {
    const bodies: string[] = [];
    await using collector = await serve((body) => (bodies.push(body), {}));
    const traces = { endpoint: `${urlOf(collector)}v1/traces`, protocol: 'http/json' };
    {
      await using started = await startWith(
        { body: `await host.span('look up', () => Promise.resolve(), { team: 'search' }); await next();` },
        { server: { telemetry: { traces } } },
      );
      await (await started.chat()).text();
    }
    // The gateway has exported its spans before its end.
    const spans = bodies.flatMap((body) =>
      (JSON.parse(body) as Exported).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
    const server = spans.find(({ name }) => name === 'POST /v1/chat/completions');
    expect(spans.find(({ name }) => name === 'it look up')).toMatchObject({
      kind: 1,
      traceId: server?.traceId,
      parentSpanId: server?.spanId,
      attributes: [{ key: 'team', value: { stringValue: 'search' } }],
    });
  });

  it('fetches from a service behind the egress guard, measures it, and fails in its own name', async () => {
    await using service = await serve((body) => ({ body: JSON.stringify({ got: body }) }));
    const url = JSON.stringify(urlOf(service));
    await using started = await startWith({
      body: `
      const allowInsecure = ctx.exchange.request.headers['x-allow'] === 'yes';
      const reply = await host.fetch(${url}, { body: 'question', allowInsecure });
      ctx.set('x-got', reply.json().got);
      await next();`,
    });
    const allowed = await started.chat({}, { 'x-allow': 'yes' });
    expect([allowed.status, allowed.headers.get('x-got')]).toEqual([200, 'question']);
    const refused = await started.chat();
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'plugin_call_failed' } }]);
    const metrics = await metricsOf(started);
    expect(metrics).toContain('gatehouse_plugin_call_duration_seconds_count{plugin="it",outcome="2xx"} 1');
    expect(metrics).toContain('gatehouse_plugin_call_duration_seconds_count{plugin="it",outcome="egress_refused"} 1');
    const line = started.gateway.logs.findLast(({ msg }) => String(msg).startsWith('request '));
    expect(line).toMatchObject({ plugin: 'it', error_code: 'plugin_call_failed' });
  });

  it.each(CLIENT_APIS)('has errors of the plugin’s own, in the form of $name', async (api) => {
    await using started = await startWith({
      body: `throw host.error('tenant_blocked', 'This tenant is blocked.');`,
      more: `errors: { tenant_blocked: { status: 403, type: 'permission_error' } }`,
    });
    const reply = await send(started.gateway.url, api, '@openai/m');
    const text = await reply.text();
    expect([reply.status, text]).toEqual([403, expect.stringContaining('This tenant is blocked.')]);
    if (api.name !== 'gemini' && api.name !== 'messages') expect(text).toContain('"code":"tenant_blocked"');
    expect(await metricsOf(started)).toContain('gatehouse_plugin_errors_total{plugin="it",code="tenant_blocked"} 1');
    expect(started.upstream.seen).toEqual([]);
  });

  it('has a log whose lines have the id of the request', async () => {
    await using started = await startWith({ body: `host.log.info({ a: 1 }, 'noted'); await next();` });
    const reply = await started.chat();
    await reply.text();
    const id = reply.headers.get('x-gateway-request-id');
    expect(started.gateway.logs.find(({ msg }) => msg === 'noted')).toMatchObject({
      plugin: 'it',
      request_id: id,
      a: 1,
    });
  });

  it('names the plugin of a deliberate refusal in the access line', async () => {
    await using started = await startWith({ body: `throw new api.GatewayError('invalid_value', 'No.');` });
    await (await started.chat()).text();
    const line = started.gateway.logs.findLast(({ msg }) => String(msg).startsWith('request '));
    expect(line).toMatchObject({ plugin: 'it', error_code: 'invalid_value' });
    expect(started.gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('warns of a plugin that holds the event loop, before and behind the rest of its chain', async () => {
    const block = `{ const until = performance.now() + 120; while (performance.now() < until); }`;
    for (const body of [`${block} await next();`, `await next(); ${block}`]) {
      await using started = await startWith({ body });
      await (await started.chat()).text();
      await until(
        () => started.gateway.logs.some(({ msg }) => String(msg).includes('held the event loop')),
        'it is named',
      );
      const [line] = started.gateway.logs.filter(({ msg }) => String(msg).includes('held the event loop'));
      expect(line).toMatchObject({ level: 'warn', plugin: 'it' });
      expect(Number(line!['blocked_ms'])).toBeGreaterThanOrEqual(100);
    }
  });
});

describe('several plugins that know callers', () => {
  /** The one of the page. */
  const [create = ''] = /^create: [\s\S]+?^};/m.exec(PAGE) ?? [];
  const own = `import { definePlugin, NotMine } from 'gatehouse-gateway/plugin';
export default definePlugin({
  name: 'own', level: 'entry', provides: ['caller'], options: { type: 'object', additionalProperties: false, properties: {} },
  ${create.replace("'60/min'", "'1/h'").replace(/;$/, '')}
});`;
  const start = (...methods: string[]) =>
    startOutsideGateway({
      plugins: [],
      upstream: ok,
      chains: entry(...methods),
      server: { plugins: [moduleOf('own', own)] },
      settings: { teams: { teams: { search: {} } } },
    });

  it.each([
    ['auth', 'own'],
    ['own', 'auth'],
  ])('try one after another, in the order of the chain: %s, %s', async (...methods) => {
    await using started = await start(...methods);
    const byKey = await started.chat();
    const byUser = await started.chat({}, { 'x-gateway-api-key': '', 'x-user': 'ann' });
    expect([byKey.status, byUser.status]).toEqual([200, 200]);
    const none = await started.chat({}, { 'x-gateway-api-key': '' });
    const text = await none.text();
    expect([none.status, text]).toEqual([401, expect.stringContaining('own: There is no x-user.')]);
    expect(text).toContain('auth: No gateway key');
    const wrong = await started.chat({}, { 'x-gateway-api-key': 'wrong' });
    expect([wrong.status, await wrong.text()]).toEqual([
      401,
      expect.stringContaining('auth: The gateway key is not valid.'),
    ]);
  });

  it('keep the limits of a caller that one of them makes', async () => {
    await using started = await start('auth', 'own');
    const statuses: number[] = [];
    for (const user of ['ann', 'ann', 'bob']) {
      const reply = await started.chat({}, { 'x-gateway-api-key': '', 'x-user': user });
      await reply.text();
      statuses.push(reply.status);
    }
    expect(statuses).toEqual([200, 429, 200]);
  });
});
