import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { BROKEN_PLUGINS, nameOf, sourceOf } from '../../src/plugin/testing/broken-plugins.testkit.ts';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { entriesFor, json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** These are refused when settings are loaded, or concern the process, which here is that of the tests (test/cli/plugin-faults.test.ts). */
const NOT_SERVED = new Set(['create', 'options-default', 'loads', 'process', 'blocks', 'leaks', 'close', 'rejections']);
const SERVED = BROKEN_PLUGINS.filter(({ rule }) => !NOT_SERVED.has(rule)).map((broken) => ({
  ...broken,
  name: nameOf(broken),
}));

/** Rules whose breach is a fault of a request: an error with the plugin's name. The others do no harm, or show in the reply. */
const FAULTS = new Set([
  'next-once',
  'next-awaited',
  'replies',
  'reply',
  'frozen-body',
  'errors',
  'ends',
  'cancellation',
]);

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-broken-'));
const api = pathToFileURL(packageFile('src/plugin/index.ts')).href;
let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  for (const { name, ...broken } of SERVED) writeFileSync(join(dir, `${name}.mjs`), sourceOf(broken, api));
  upstream = await startUpstream((_, res) => json(res, openaiReply('hello')));
  gateway = await startTestGateway({
    server: { plugins: SERVED.map(({ name }) => join(dir, `${name}.mjs`)), limits: { plugin_time: '500ms' } },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: Object.fromEntries(
      SERVED.map(({ name }) => [name, { plugins: { add: [{ plugin: name, before: 'route' }] } }]),
    ),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  rmSync(dir, { recursive: true, force: true });
});

/** The status of a chat; 0 where its connection breaks. */
async function ask(config?: string): Promise<number> {
  const own = config === undefined ? {} : { 'x-gateway-config': config };
  try {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...own },
      body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

const isNamed = (name: string): boolean =>
  gateway.logs.some((line) => line['plugin'] === name || JSON.stringify(line).includes(`"${name}"`));

describe('a broken plugin harms its own request only', () => {
  it.each(SERVED)('$kind ($rule)', async ({ name, rule }) => {
    const status = await ask(name);
    expect(await ask()).toBe(200);
    if (!FAULTS.has(rule) || status === 200) return;
    expect([0, 500, 504]).toContain(status);
    await until(() => isNamed(name), `a log line that names ${name}`);
  });

  it('and counts in the metric of the failures of plugins', async () => {
    const { text } = await gateway.gateway.metrics.scrape(undefined);
    expect(text).toMatch(/gatehouse_plugin_failures_total\{[^}]*plugin="next-twice"[^}]*\} [1-9]/);
  });
});
