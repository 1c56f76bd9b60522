import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { executable, openBrowser } from './chromium.ts';
import { buildPage, expectClean, openPage, type OpenPage } from './kit.ts';
import { PRODUCTION } from './recorded/requests.ts';

const CANARY = 'sk-canary-0123456789abcdef';
const SERVER = `listen: { port: 0 }
status: { port: 0 }
admin: { port: 0, role: operator, content: true, explain: all }
`;
const KEYS = `keys:
  - id: demo
    key: gatehouse-demo-key-0123456789
    networks: [127.0.0.0/8]
  - id: search
    key: gatehouse-search-key-0123456789
    default_config: production
    metadata: { tier: gold }
`;

/** An ops team on a fresh folder, without a store: each step begins where the one before has ended. */
describe.skipIf(executable === undefined)('the journey of an ops team', () => {
  const configs = mkdtempSync(join(tmpdir(), 'gatehouse-journey-'));
  const logs: string[] = [];
  let gateway: Gateway;
  let upstream: ScriptedUpstream;
  let browser: Browser;
  let now: OpenPage;

  const write = (file: string, text: string): void => writeFileSync(join(configs, file), text);
  const send = (key: string, model: string): Promise<Response> =>
    fetch(`${gateway.data.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': key },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'a text that nobody shows' }] }),
    });
  /** The patch on the page, applied as the page says. */
  const applyPatch = async (): Promise<void> => {
    write('console.patch', (await now.page.locator('.diff').textContent()) ?? '');
    execFileSync('git', ['apply', '--unidiff-zero', 'console.patch'], { cwd: configs });
  };

  beforeAll(async () => {
    buildPage();
    mkdirSync(join(configs, 'gateway'));
    write('server.yaml', SERVER);
    write('catalog.yaml', 'providers:\n  - slug: simulator\n    provider: simulator\n');
    write('keys.yaml', KEYS);
    write('gateway/production.yaml', PRODUCTION);
    upstream = await startUpstream((request, response) => {
      if (request.headers['authorization'] !== `Bearer ${CANARY}`)
        return json(
          response,
          { error: { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' } },
          401,
        );
      json(response, openaiReply('pong'));
    });
    gateway = await startGateway({
      configs,
      env: { LOCAL_API_KEY: CANARY },
      clock: systemClock,
      logTo: { write: (line) => void logs.push(line) },
    });
    browser = await openBrowser();
    now = await openPage(browser, `${gateway.admin!.url}/ui/`);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await upstream?.close();
    rmSync(configs, { recursive: true, force: true });
  });

  it('begins at the first steps, and sends the first request from the page', async () => {
    await now.page.waitForSelector('text=First steps');
    await now.page.click('button:has-text("Send it from here")');
    await now.page.click('a:has-text("See it in the list")');
    await now.page.waitForSelector('.table-body .table-row:has-text("demo")');
    await expectClean(now);
  });

  it('sees a failure arrive, its tries on a line of time, and the line of YAML that decided', async () => {
    expect((await send('gatehouse-search-key-0123456789', 'sim-steady')).status).toBe(200);
    await now.page.click('.table-body .table-row:has-text("rescued")');
    await now.page.waitForSelector('.timeline .lane .failed');
    expect(await now.page.textContent('.drawer')).toContain('Simulated error 503.');
    await now.page.click('.drawer a:has-text("Why")');
    await now.page.waitForSelector('.code .marked');
    expect(await now.page.textContent('.file-head')).toBe('gateway/production.yaml:17');
    expect(await now.page.textContent('.code .marked')).toContain('spare');
    await expectClean(now);
  });

  it('adds a provider: the test names the key that is refused, then passes, and the patch takes effect', async () => {
    await now.page.click('.nav a:has-text("Providers")');
    await now.page.click('button:has-text("Add a provider")');
    await now.page.click('.kinds button:has-text("OpenAI-compatible")');
    const field = (name: string) => now.page.locator(`label.field:has(code:text-is("${name}")) input`);
    await now.page.locator('label.field:has-text("@name in configs") input').fill('local');
    await field('base_url').fill(`${upstream.url}/v1`);
    await now.page.locator('label:has(code:text-is("allow_insecure")) input').check();
    await now.page.locator('label:has-text("small call") input').check();
    await now.page.locator('label.field:has-text("Model of the call") input').fill('m');
    await field('api_key').fill('wrong');
    await now.page.click('button:text-is("Test")');
    await now.page.waitForSelector('text=The test ended at the step above.');
    expect(await now.page.locator('.test-steps .failed-text').count()).toBeGreaterThan(0);
    await field('api_key').fill(CANARY);
    await now.page.click('button:text-is("Test")');
    await now.page.waitForSelector('text=The entry works.');
    await now.page.click('button:has-text("Propose a patch")');
    await now.page.waitForSelector('.diff');
    expect(await now.page.textContent('.diff')).toContain('${env:LOCAL_API_KEY}');
    await expectClean(now);
    await applyPatch();
    await now.page.click('button:has-text("Back to the list")');
    await now.page.waitForSelector('td:has-text("@local")');
  });

  it('gives an application a key, shown once', async () => {
    await now.page.click('.nav a:has-text("Keys")');
    await now.page.click('button:has-text("Create a key")');
    await now.page.locator('dialog input >> nth=0').fill('web');
    await now.page.click('button:has-text("Create the key")');
    const secret = (await now.page.locator('.secret').textContent()) ?? '';
    expect(secret).toMatch(/^gatehouse_/);
    await expectClean(now);
    await applyPatch();
    await now.page.click('button:has-text("I have stored it")');
    await now.page.waitForSelector('td:has-text("web")');
    expect(await now.page.content()).not.toContain(secret);
    await expect.poll(async () => (await send(secret, '@local/m')).status).toBe(200);
  });

  it('asks the new provider in the playground, as the key', async () => {
    await now.page.click('.nav a:has-text("Playground")');
    await now.page.locator('select >> nth=0').selectOption('demo');
    await now.page.locator('.columns input >> nth=0').fill('@simulator/demo');
    await now.page.locator('label.field:has-text("Message") textarea').fill('hello');
    await now.page.click('button:text-is("Send")');
    await now.page.waitForSelector('.reply:has-text("Simulated reply to: hello")');
    await expectClean(now);
    await now.page.click('.columns a:has-text("Why")');
    await now.page.waitForSelector('h1:has-text("went to demo")');
  });

  it('has left no credential and no text of a caller in the page, the storage, the address, the files or the log', async () => {
    await now.page.click('.nav a:has-text("Requests")');
    await now.page.waitForSelector('.table-body .table-row');
    const storage = await now.page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
    const seen = [
      await now.page.content(),
      storage,
      now.page.url(),
      logs.join(''),
      readFileSync(join(configs, 'catalog.yaml'), 'utf8'),
    ].join('\n');
    expect(seen).not.toContain(CANARY);
    expect(seen).not.toContain('a text that nobody shows');
  });
});
