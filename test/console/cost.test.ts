import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { executable, openBrowser } from './chromium.ts';
import { expectClean, openPage, type OpenPage } from './kit.ts';
import { serveRecorded, type RecordedPage } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { usage } from './recorded/costs.ts';

const DRAFT = {
  file: 'prices.yaml',
  patch: '--- /dev/null\n+++ b/prices.yaml\n@@ -0,0 +1,1 @@\n+prices:\n',
  folder: '/etc/gatehouse',
  apply: ['git apply gatehouse.patch'],
  set: [],
  diagnostics: [],
};

describe.skipIf(executable === undefined)('the screen of costs', () => {
  let browser: Browser;
  let served: RecordedPage;
  let open: OpenPage;

  beforeAll(async () => {
    served = await serveRecorded({});
    browser = await openBrowser();
    open = await openPage(browser, 'about:blank');
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });
  beforeEach(async () => {
    served.answers = {
      ...ANSWERS,
      'POST /prices:draft': DRAFT,
    };
    served.calls.length = served.bodies.length = 0;
    await open.page.goto('about:blank');
    await open.page.goto(`${served.url}#/cost?month=2026-11`);
    await open.page.waitForSelector('.days');
  });
  const usageCalls = () =>
    served.calls.filter((call) => call.startsWith('GET /usage')).map((call) => new URLSearchParams(call.split('?')[1]));

  it('asks for the sums of names, of days and of the dearest names in days of the zone, and shows the days as a table, too', async () => {
    expect(usageCalls().map((query) => [query.get('step'), query.get('by'), query.get('time_zone')])).toEqual([
      ['all', 'team', 'UTC'],
      ['all', 'team', 'UTC'],
      ['day', null, 'UTC'],
      ['all', 'provider,model', 'UTC'],
      ['day', 'team', 'UTC'],
    ]);
    expect(usageCalls().at(-1)!.getAll('team')).toEqual(['search', 'interns', '']);
    expect([usageCalls()[0]!.get('from'), usageCalls()[0]!.get('to')]).toEqual(['2026-11-01', '2026-12-01']);
    const rows = open.page.getByRole('region', { name: 'Cost by day' }).locator('tbody tr');
    expect(await rows.count()).toBe(30);
    expect(await rows.first().textContent()).toContain('2026-11-01, UTC');
    const tops = await open.page.locator('.notice.warning').first().boundingBox();
    const days = await open.page.locator('.days').boundingBox();
    expect(tops!.y).toBeLessThan(days!.y);
    await expectClean(open);
  });

  it('leads from a team to its keys, their models and their requests', async () => {
    const { page } = open;
    await page.getByRole('link', { name: 'search', exact: true }).first().click();
    await page.waitForSelector('a:has-text("nightly-reports")');
    expect(usageCalls().at(-3)!.getAll('team')).toEqual(['search']);
    await page.getByRole('link', { name: 'batch' }).click();
    await page.waitForSelector('a:has-text("gemini-2.5-flash")');
    expect(new URL(page.url()).hash).toBe('#/cost?team=search&key=batch&month=2026-11&by=model');
    expect(await page.getByRole('link', { name: 'gemini-2.5-pro' }).getAttribute('href')).toBe(
      '#/requests?team=search&key=batch&model=gemini-2.5-pro',
    );
    await page.getByRole('button', { name: 'Remove the filter key batch' }).click();
    await page.waitForFunction("!location.hash.includes('batch')");
  });

  it('has the whole sum of ten thousand labels, and a row for each of the dearest', async () => {
    const labels = Array.from({ length: 10_000 }, (_, index) => `user-${index}<b>`);
    served.answers = {
      ...served.answers,
      'GET /usage': (_, response, query) => {
        const { items } = usage(query, labels) as { items: object[] };
        const from = Number(query.get('cursor'));
        const page = {
          items: items.slice(from, from + 1000),
          ...(items[from + 1000] && { next: String(from + 1000) }),
        };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
      },
    };
    const { page } = open;
    await page.getByRole('button', { name: 'env' }).click();
    await page.waitForSelector('text=and 9,800 more');
    const days = usage(new URLSearchParams('step=day'), labels) as { items: { nano: number }[] };
    const spend = days.items.reduce((sum, { nano }) => sum + nano, 0) / 1e9;
    expect(await page.textContent('.figures dd')).toBe(`$${spend.toFixed(2)}`);
    expect(await page.getByRole('region', { name: 'Cost by env' }).locator('tbody tr').count()).toBe(200);
    expect(await page.locator('.day').first().locator('i').count()).toBe(7);
    await expectClean(open);
  });

  it('proposes the price of a model as a patch', async () => {
    const { page } = open;
    await page.getByRole('button', { name: 'Add price' }).click();
    await page.getByLabel('Input', { exact: true }).fill('3');
    await page.getByLabel('Output').fill('1,5');
    const propose = page.getByRole('button', { name: 'Propose a patch' });
    expect(await propose.getAttribute('aria-disabled')).toBe('true');
    await page.getByLabel('Output').fill('1.5');
    await propose.click();
    await page.waitForSelector('pre.diff');
    expect(JSON.parse(served.bodies.at(-1)!)).toEqual({
      id: 'simulator-sim-steady',
      spec: { model: 'sim-steady', entry: '@simulator', usd: { input: 3, output: 1.5 } },
    });
    await expectClean(open);
  });

  it('saves the sums as a file, with columns of FOCUS too', async () => {
    const { page } = open;
    served.answers = {
      ...served.answers,
      'GET /usage': (_, response) => void response.writeHead(200, { 'content-type': 'text/csv' }).end('start,nano\r\n'),
    };
    for (const [button, name, format] of [
      ['CSV', 'cost-2026-11.csv', 'csv'],
      ['CSV with FOCUS columns', 'focus-2026-11.csv', 'focus'],
    ] as const) {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: button, exact: true }).click(),
      ]);
      expect([file.suggestedFilename(), readFileSync(await file.path(), 'utf8')]).toEqual([name, 'start,nano\r\n']);
      expect(usageCalls().at(-1)!.get('format')).toBe(format);
    }
    expect(open.complaints).toEqual([]);
  });
});
