import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executable, openBrowser } from './chromium.ts';
import { openPage, type OpenPage } from './kit.ts';
import { serveRecorded, type Recorded, type RecordedPage } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { auditRows, tokens, webhooks } from './recorded/govern.ts';

describe.skipIf(executable === undefined)('the page', () => {
  let browser: Browser;
  let served: RecordedPage;
  let now: OpenPage;

  beforeAll(async () => {
    served = await serveRecorded({});
    browser = await openBrowser();
    now = await openPage(browser, 'about:blank');
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  const open = async (address: string, answers: Record<string, Recorded> = {}): Promise<OpenPage['page']> => {
    served.answers = { ...ANSWERS, ...answers };
    served.calls.length = 0;
    served.bodies.length = 0;
    await now.page.goto('about:blank');
    await now.page.goto(served.url + address);
    return now.page;
  };

  it('reads further pages of the audit as its end comes near, and goes through rows by keys', async () => {
    const pages: Recorded = (_, response, query) => {
      const isFirst = query.get('cursor') === null;
      const items = isFirst ? auditRows : auditRows.map((one) => ({ ...one, seq: one.seq - 103 }));
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ items, ...(isFirst && { next: 'x' }) }));
    };
    const page = await open('#/audit', { 'GET /audit': pages });
    await page.waitForSelector('.table-body .table-row');
    await page.locator('.table-body').evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await expect.poll(() => page.getAttribute('[role=table]', 'aria-rowcount')).toBe('207');
    expect(served.calls.filter((call) => call.startsWith('GET /audit'))).toEqual([
      'GET /audit?limit=200',
      'GET /audit?limit=200&cursor=x',
    ]);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.waitForSelector('.drawer .diff .added:has-text("claude-*")');
    expect(page.url()).toContain('row=119');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.drawer').count()).toBe(0);
  });

  it('asks for the rows about one kind, and says where the chain is broken', async () => {
    const page = await open('#/audit', {
      'GET /audit:verify': { intact: false, at: 17, reason: 'its hash is another' },
    });
    await page.click('button:text-is("Texts read")');
    await expect.poll(() => served.calls.at(-1)).toBe('GET /audit?limit=200&object_kind=requests');
    await page.click('button:text-is("Verify the chain")');
    await page.waitForSelector('.failed-text:has-text("Row 17 does not continue the chain: its hash is another")');
  });

  it('tests a webhook, saves one with a secret of its own, and says why a test has failed', async () => {
    const page = await open('#/alerts?tab=webhooks&row=ops', {
      'POST /alerts': { ...webhooks[0], id: 'pager' },
      'POST /alerts/ops:test': { webhook: 'ops', state: 'lost', tries: 1, problem: 'HTTP 503' },
    });
    await page.click('button:text-is("Test")');
    await page.waitForSelector('.notice.failed:has-text("HTTP 503")');
    await page.click('button:text-is("Add a webhook")');
    await page.fill('label:has-text("Id") input', 'pager');
    await page.fill('label:has-text("Address") input', 'https://alerts.example/hook');
    await page.fill('label:has-text("Kinds") input', 'budget, exhausted');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
    expect(JSON.parse(served.bodies.at(-1) ?? '')).toEqual({
      id: 'pager',
      spec: {
        url: 'https://alerts.example/hook',
        secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/),
        kinds: ['budget', 'exhausted'],
      },
    });
    expect(page.url()).not.toContain('whsec_');
  });

  it('creates a token, which it shows once, and revokes one by its id', async () => {
    const page = await open('#/people?row=old', {
      'POST /tokens': { token: 'gha_canary', object: tokens[0] },
      'DELETE /tokens/old': {},
    });
    await page.click('button:text-is("Revoke the token")');
    await page.fill('dialog input', 'old');
    await page.click('dialog button:text-is("Revoke the token")');
    await expect.poll(() => served.calls.includes('DELETE /tokens/old')).toBe(true);
    await page.click('button:text-is("Create a token")');
    await page.fill('dialog label:has-text("Id") input', 'bob');
    await page.selectOption('dialog label:has-text("Role") select', 'operator');
    await page.click('button:text-is("Create the token")');
    await page.waitForSelector('dialog .secret:text-is("gha_canary")');
    expect(JSON.parse(served.bodies.at(-1) ?? '')).toMatchObject({ id: 'bob', role: 'operator', content: false });
    await page.click('button:text-is("I have stored it")');
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
    expect(await page.content()).not.toContain('gha_canary');
    expect(page.url()).not.toContain('gha_');
  });
});
