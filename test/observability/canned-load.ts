import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLITE } from '../../src/addons/budgets/store/sqlite/driver.ts';
import { addStoreDrivers } from '../../src/core/ports/store-driver.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { KEY, writeSettings } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, sse, startUpstream, type Script } from '../support/upstream.ts';
import { writePlugins } from '../plugins/outside-gateway.ts';

const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 10,
  total_tokens: 30,
  prompt_tokens_details: { cached_tokens: 8 },
};

const model: Script = ({ json: body }, res) =>
  body['stream'] === true
    ? sse(res, [
        openaiChunk({ role: 'assistant', content: 'hel' }),
        openaiChunk({ content: 'lo' }),
        openaiChunk({}, 'stop'),
        { ...openaiChunk({}), choices: [], usage: USAGE },
        'data: [DONE]\n\n',
      ])
    : json(res, openaiReply('hello', { usage: USAGE }));

const GUARD = `if (ctx.get('x-refuse')) throw new api.GatewayError('invalid_value', 'refused');
await next();`;

const chat = (target: string, more: object = {}): object => ({
  model: target,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
});

/** One request of each kind that a panel shows. The second and the third are equal: the cache answers one of them. */
const REQUESTS: readonly { readonly body: object; readonly headers?: Record<string, string> }[] = [
  { body: chat('@openai/m', { stream: true }) },
  { body: chat('@openai/m'), headers: { 'x-gateway-config': 'load' } },
  { body: chat('@openai/m'), headers: { 'x-gateway-config': 'load' } },
  { body: chat('@sim/unpriced') },
  { body: chat('@sim/sim-error-503'), headers: { 'x-gateway-config': 'retried' } },
  { body: chat('@openai/m'), headers: { 'x-refuse': 'yes' } },
  { body: chat('@openai/m'), headers: { 'x-gateway-api-key': 'wrong' } },
];

/** A gateway under a load of every kind of request, until it is closed. */
export async function startCannedLoad(env: Readonly<Record<string, string>>) {
  const upstream = await startUpstream(model);
  const { modules } = writePlugins([{ name: 'guard', body: GUARD }]);
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-load-'));
  // Panels of a fleet have series where gateways may share a store. A server of `state.shared` that is away has them too.
  addStoreDrivers([{ ...SQLITE, use: 'shared' }]);
  const state = {
    store: { type: 'sqlite', dir: join(dir, 'store') },
    dir: join(dir, 'own'),
    shared: { type: 'valkey', url: 'redis://127.0.0.1:1' },
  };
  const configs = writeSettings({
    server: { state, plugins: modules, chains: { request: ['guard', 'metadata', 'route'] } },
    catalog: {
      providers: [
        { slug: 'openai', provider: 'simulator', base_url: upstream.url, allow_insecure: true, models: ['m'] },
        { slug: 'sim', provider: 'simulator', models: ['unpriced', 'sim-*'] },
      ],
    },
    gateway: {
      load: {
        cache: { mode: 'exact', max_age: 3600 },
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@sim', override_params: { model: 'sim-error-503' } },
          { provider: '@openai', override_params: { model: 'm' } },
        ],
      },
      retried: { retry: { attempts: 1 } },
    },
  });
  writeFileSync(
    join(configs, 'prices.yaml'),
    JSON.stringify({ prices: [{ model: 'm', usd: { input: 1, output: 2 } }] }),
  );
  const gateway = await startGateway({ configs, env, logTo: { write() {} } });
  const ending = new AbortController();
  const load = (async () => {
    while (!ending.signal.aborted) {
      for (const { body, headers } of REQUESTS) {
        const reply = await fetch(`${gateway.data.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
          body: JSON.stringify(body),
        });
        await reply.arrayBuffer();
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    statusUrl: gateway.status.url,
    async close() {
      ending.abort();
      await load;
      await gateway.close();
      await upstream.close();
      addStoreDrivers([SQLITE]);
      rmSync(dir, { recursive: true });
    },
  };
}
