import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { KEY, startTestGateway, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { entriesFor, startUpstream, type Script, type ScriptedUpstream } from '../support/upstream.ts';

const API = pathToFileURL(join(import.meta.dirname, '../../src/plugin/index.ts')).href;
const NO_OPTIONS = `options: { type: 'object', additionalProperties: false, properties: {} }`;

/** A plugin as its author writes it: `body` is the middleware's, with `ctx` and `next`, and `api` for the plugin API. */
export interface OutsidePlugin {
  readonly name: string;
  readonly level?: 'entry' | 'request' | 'attempt';
  readonly body: string;
  /** More keys of the definition, as source: `requires: ['caller']`. */
  readonly more?: string;
  /** Source that stands before the definition. */
  readonly before?: string;
}

function source({ name, level = 'request', body, more, before = '' }: OutsidePlugin): string {
  return `import * as api from ${JSON.stringify(API)};
${before}
export default api.definePlugin({
  name: ${JSON.stringify(name)},
  level: ${JSON.stringify(level)},
  ${more?.includes('options:') ? '' : `${NO_OPTIONS},`}
  ${more ? `${more},` : ''}
  create({ options, host }) {
    return async (ctx, next) => {
${body}
    };
  },
});
`;
}

/** Writes modules as a third party would have them, in a folder of their own. */
export function writePlugins(plugins: readonly OutsidePlugin[]): {
  readonly dir: string;
  readonly modules: readonly string[];
} {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-plugins-'));
  const modules = plugins.map((plugin) => {
    const file = join(dir, `${plugin.name}.mjs`);
    writeFileSync(file, source(plugin));
    return file;
  });
  return { dir, modules };
}

export interface Setup {
  readonly plugins: readonly OutsidePlugin[];
  readonly upstream: Script;
  readonly chains?: object;
  readonly gateway?: TestSettings['gateway'];
  readonly keys?: TestSettings['keys'];
  /** More of server.yaml. */
  readonly server?: object;
  readonly settings?: Pick<TestSettings, 'keys' | 'prices' | 'teams'>;
}

export interface OutsideGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  /** Asks for a chat completion of `@openai/m`. */
  chat(body?: object, headers?: Record<string, string>): Promise<Response>;
}

/** A gateway on loopback with external plugins, and the upstream its requests reach. */
export async function startOutsideGateway({
  plugins,
  upstream: script,
  chains,
  gateway: configs,
  keys,
  server,
  settings,
}: Setup): Promise<OutsideGateway> {
  const { dir, modules } = writePlugins(plugins);
  const upstream = await startUpstream(script);
  const gateway = await startTestGateway({
    server: { plugins: modules, ...(chains && { chains }), ...server },
    catalog: { providers: entriesFor(upstream.url) },
    ...(configs && { gateway: configs }),
    ...(keys && { keys }),
    ...settings,
  }).catch(async (error: unknown) => {
    await upstream.close();
    throw error;
  });
  return {
    gateway,
    upstream,
    chat: (body = {}, headers = {}) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
        body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }], ...body }),
      }),
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await upstream.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The metrics of a gateway as Prometheus reads them. */
export const metricsOf = async ({ gateway }: Pick<OutsideGateway, 'gateway'>): Promise<string> =>
  (await gateway.gateway.metrics.scrape(undefined)).text;

/** Repeats a request until it is answered with this status. */
export async function untilStatus({ chat }: Pick<OutsideGateway, 'chat'>, status: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const response = await chat();
    await response.arrayBuffer();
    if (response.status === status) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no reply with ${status}`);
}
