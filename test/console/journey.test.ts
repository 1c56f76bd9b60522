import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFull } from '../support/effort.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { executable, openBrowser } from './chromium.ts';
import { expectClean, openPage, type OpenPage } from './kit.ts';
import { startPlace, type Place, type PlaceSetup } from './place.ts';
import { PRODUCTION } from './recorded/requests.ts';

const CANARY = 'sk-canary-0123456789abcdef';
const PROMPT = 'a text that no page shows';
const REPLY = 'a reply that no page shows';
const FILES = {
  'catalog.yaml': 'providers:\n  - slug: simulator\n    provider: simulator\n',
  'keys.yaml': `keys:
  - id: demo
    key: gatehouse-demo-key-0123456789
    networks: [127.0.0.0/8]
  - id: search
    key: gatehouse-search-key-0123456789
    default_config: production
    metadata: { tier: gold }
`,
  'gateway/production.yaml': PRODUCTION,
};

/** Each pair of a prefix, a number of processes and a store comes once. */
const PLACES: readonly Pick<PlaceSetup, 'prefix' | 'workers' | 'store'>[] = [
  { prefix: '', workers: 'none', store: false },
  { prefix: '/tools/gw', workers: '2', store: false },
  { prefix: '', workers: '2', store: true },
  { prefix: '/tools/gw', workers: 'none', store: true },
];

/** An ops team on a fresh folder: each step begins where the one before has ended. */
describe.skipIf(executable === undefined).each(isFull('console') ? PLACES : PLACES.slice(0, 1))(
  'the journey of an ops team (prefix "$prefix", workers $workers, a store: $store)',
  (setup) => {
    let place: Place;
    let upstream: ScriptedUpstream;
    let browser: Browser;
    let now: OpenPage;
    /** Answers of the admin API but those of the playground, which a person has asked for. */
    const answers: string[] = [];

    const send = (key: string, model: string): Promise<Response> =>
      fetch(`${place.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': key },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: PROMPT }] }),
      });
    /** The patch on the page, applied as the page says. */
    const applyPatch = async (): Promise<void> => {
      writeFileSync(join(place.configs, 'console.patch'), (await now.page.locator('.diff').textContent()) ?? '');
      execFileSync('git', ['apply', '--unidiff-zero', 'console.patch'], { cwd: place.configs });
    };

    beforeAll(async () => {
      upstream = await startUpstream((request, response) => {
        if (request.headers['authorization'] !== `Bearer ${CANARY}`)
          return json(
            response,
            { error: { message: 'The project has no access to this model.', type: 'permission_error', code: null } },
            403,
          );
        json(response, openaiReply(REPLY));
      });
      process.env['LOCAL_API_KEY'] = CANARY;
      place = await startPlace({ ...setup, files: FILES, upstream: upstream.url });
      browser = await openBrowser();
      now = await openPage(browser, place.page);
      now.page.on('response', (response) => {
        const type = response.headers()['content-type'] ?? '';
        if (!/\/admin\/v1\/(?!playground)/.test(response.url()) || !type.includes('json')) return;
        void response.text().then(
          (text) => answers.push(text),
          () => {},
        );
      });
    });
    afterAll(async () => {
      delete process.env['LOCAL_API_KEY'];
      await browser?.close();
      await place?.close();
      await upstream?.close();
    });

    it.runIf(setup.store)('signs in with a token, which stays nowhere', async () => {
      await now.page.click('.nav button:has-text("Sign in")');
      await now.page.fill('dialog input[type=password]', place.token!);
      await now.page.keyboard.press('Enter');
      await now.page.waitForSelector('.nav:has-text("ann · admin")');
      expect(await now.page.content()).not.toContain(place.token);
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

    it('makes a test of the record', async () => {
      await now.page.click('.nav a:has-text("Requests")');
      await now.page.click('.table-body .table-row:has-text("rescued")');
      await now.page.click('.drawer button:has-text("Make a test case")');
      await now.page.waitForSelector('dialog .notice.ok:has-text("The case passes")');
      await expectClean(now);
      const file = (await now.page.textContent('dialog p > code')) ?? '';
      writeFileSync(join(place.configs, file), (await now.page.textContent('dialog .command pre')) ?? '');
      await now.page.click('dialog button:text-is("Close")');
    });

    it('adds a provider: the test names the key that is refused, then passes, and it takes effect', async () => {
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
      if (setup.store) {
        await now.page.click('button:has-text("Save the entry")');
        await now.page.waitForSelector('text=All processes serve with the entry.');
        await expectClean(now);
      } else {
        await now.page.click('button:has-text("Propose a patch")');
        await now.page.waitForSelector('.diff');
        expect(await now.page.textContent('.diff')).toContain('${env:LOCAL_API_KEY}');
        await expectClean(now);
        await applyPatch();
      }
      await now.page.click('button:has-text("Back to the list")');
      await now.page.waitForSelector('[role=cell]:has-text("@local")');
    });

    /** In place of the whole line. */
    const writeLine = async (line: number, text: string): Promise<void> => {
      await now.page
        .locator('.cm-line')
        .nth(line - 1)
        .click();
      for (const key of ['Home', 'Shift+End']) await now.page.keyboard.press(key);
      await now.page.keyboard.type(text);
    };

    it('edits a config: the mark has its line and a fix', async () => {
      await now.page.click('.nav a:has-text("Configs")');
      await now.page.click('a:has-text("gateway/production.yaml")');
      await now.page.waitForSelector('text=These settings are valid');
      await writeLine(14, 'provider: "@simulater"');
      await now.page.waitForSelector('.marks li:has-text("14:")');
      await now.page.click('.marks button:has-text("Fix")');
      await now.page.waitForSelector('text=These settings are valid');
    });

    it('sees the effect before it happens: none of a name, and which requests another condition would send elsewhere', async () => {
      await writeLine(1, 'name: Production of the team');
      await now.page.click('button:text-is("Effect")');
      await now.page.click('button:has-text("Show the effect")');
      await now.page.waitForSelector('.panels .notice.ok:has-text("None of 2")');
      await writeLine(6, '- query: { metadata.tier: { $eq: silver } }');
      await now.page.click('button:has-text("Show the effect")');
      await now.page.waitForSelector('.panels .notice.warning:has-text("1 of 2 requests would change")');
      expect(await now.page.textContent('.panels')).toContain(
        '@simulator/sim-error-503, then @simulator/sim-steady → @simulator/sim-steady',
      );
      await expectClean(now);
    });

    it('runs the test of the record: it fails with the edit, and passes without it', async () => {
      await now.page.click('button:text-is("Tests")');
      await now.page.click('button:has-text("Run the tests")');
      await now.page.waitForSelector('.panels .notice.failed:has-text("1 of 1 case failed")');
      await expectClean(now);
      await writeLine(6, '- query: { metadata.tier: { $eq: gold } }');
      await now.page.keyboard.press('Control+Enter');
      await now.page.waitForSelector('.panels .notice.ok:has-text("All of 1 case passed")');
    });

    it('applies the patch of the edit, which comes into force and is in the history', async () => {
      await now.page.click('button:has-text("Propose a patch")');
      await now.page.waitForSelector('dialog .diff');
      await expectClean(now);
      await applyPatch();
      await now.page.click('dialog button:text-is("Close")');
      await now.page.click('button:text-is("History")');
      await now.page.click('.panels summary');
      expect(await now.page.textContent('.panels .diff')).toContain('+name: Production of the team');
      // The edit has come into force: it is none any more.
      await now.page.waitForSelector('[aria-disabled=true]:has-text("Nothing has been edited")');
      await expectClean(now);
    });

    it('gives an application a key, shown once', async () => {
      await now.page.click('.nav a:has-text("Keys")');
      await now.page.click('button:has-text("Create a key")');
      await now.page.locator('dialog input >> nth=0').fill('web');
      await now.page.click('button:has-text("Create the key")');
      const secret = (await now.page.locator('.secret').textContent()) ?? '';
      expect(secret).toMatch(/^gatehouse_/);
      await expectClean(now);
      if (!setup.store) await applyPatch();
      await now.page.click('button:has-text("I have stored it")');
      await now.page.waitForSelector('[role=cell]:has-text("web")');
      expect(await now.page.content()).not.toContain(secret);
      await expect.poll(async () => (await send(secret, '@local/m')).status).toBe(200);
    });

    it('limits what the key may spend', async () => {
      await now.page.click('.table-body a:text-is("web")');
      await now.page.locator('.drawer label:has-text("Cap") input').fill('5 USD');
      if (setup.store) {
        await now.page.click('button:has-text("Create a budget")');
        await now.page.waitForSelector('.drawer .effective .budget:has-text("$5.00 left of $5.00")');
      } else await now.page.waitForSelector('.drawer pre:has-text("cap: 5 USD")');
      await expectClean(now);
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

    it('finds in the audit who has changed what', async () => {
      await now.page.click('.nav a:has-text("Audit")');
      if (!setup.store) return void (await now.page.waitForSelector('text=No audit without a store'));
      await now.page.click('.table-row:has-text("put"):has-text("web")');
      await now.page.waitForSelector('.drawer .diff .added');
      await now.page.click('button:has-text("Verify the chain")');
      await now.page.waitForSelector('.ok-text:has-text("The chain is intact")');
      await expectClean(now);
    });

    it('has left no credential and no text of a caller in the page, the storage, the address, the answers, the files or the log', async () => {
      await now.page.click('.nav a:has-text("Requests")');
      await now.page.waitForSelector('.table-body .table-row');
      const storage = await now.page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
      const catalog = readFileSync(join(place.configs, 'catalog.yaml'), 'utf8');
      const seen = [await now.page.content(), storage, now.page.url(), place.said(), catalog, ...answers].join('\n');
      expect(answers.length).toBeGreaterThan(20);
      for (const canary of [CANARY, PROMPT, REPLY]) expect(seen).not.toContain(canary);
    });
  },
);
