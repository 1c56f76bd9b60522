import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executable, openBrowser } from './chromium.ts';
import { axe, openPage, type OpenPage } from './kit.ts';
import { serveRecorded, streamOf, type Recorded, type RecordedPage } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { prompts } from './recorded/govern.ts';

const PAGE = '#/prompts?row=ticket-summary';

describe.skipIf(executable === undefined)('the page of a prompt', () => {
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
    now.complaints.length = 0;
    await now.page.goto('about:blank');
    await now.page.goto(served.url + address);
    return now.page;
  };
  const lastBody = (): unknown => JSON.parse(served.bodies.at(-1) ?? 'null');

  it('has its versions and labels on a line, finds variables in the texts, and saves a version as a patch of the object', async () => {
    const page = await open(PAGE, { 'PATCH /prompts/ticket-summary': prompts[0]! });
    await page.waitForSelector('.versions li');
    expect(await page.locator('.versions li').allTextContents()).toEqual([
      expect.stringMatching(/^1released@production$/),
      expect.stringMatching(/^2released@staging$/),
      expect.stringMatching(/^3draft$/),
    ]);
    await page.click('button:text-is("Declare reader")');
    await page.fill('[aria-label="Text of message 1"]', 'Be very {{tone}}.');
    await page.click('button:text-is("Save version 3")');
    await expect.poll(() => served.calls.includes('PATCH /prompts/ticket-summary')).toBe(true);
    expect(lastBody()).toMatchObject({
      spec: {
        versions: {
          3: {
            variables: { reader: {} },
            messages: [{ role: 'system', content: 'Be very {{tone}}.' }, { role: 'user' }],
          },
        },
      },
    });
    expect(page.url()).not.toContain('very');
    expect(await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain('very');
  });

  it('does not save a released version, and says so to those who press', async () => {
    const page = await open(`${PAGE}&v=1`);
    await page.fill('[aria-label="Text of message 1"]', 'Other: {{ticket}}');
    await page.getByRole('button', { name: /^Save version 1/ }).click({ force: true });
    await page.waitForSelector('.warning-text:has-text("never changes")');
    expect(served.calls.filter((call) => !call.startsWith('GET'))).toEqual([]);
  });

  it('has a form of the variables from their schemas, and shows what the gateway makes of the values', async () => {
    const page = await open(`${PAGE}&v=3`);
    await page.selectOption('[aria-label="Values"] label:has-text("tone") select', 'friendly');
    await page.fill('[aria-label="Values"] label:has-text("photos") textarea', '["a","b"]');
    await page.click('button:text-is("Show the request")');
    await page.waitForSelector('[aria-label="The request"]:has-text("Be formal.")');
    expect(lastBody()).toMatchObject({
      variables: { ticket: 'It does not start.', tone: 'friendly', photos: ['a', 'b'] },
    });
    await page.fill('[aria-label="Values"] label:has-text("photos") textarea', '[');
    await page.getByRole('button', { name: /^Show the request/ }).click({ force: true });
    await page.waitForSelector('.warning-text:has-text("photos is not JSON.")');
  });

  it('runs cases with two versions beside each other, and shows replies as text', async () => {
    const evil = '<img src=x onerror="document.title=1">';
    const page = await open(`${PAGE}&tab=cases&v=2&with=1`, {
      'POST /prompts/ticket-summary:run': streamOf([
        {
          event: 'case',
          data: {
            case: 0,
            version: 0,
            ok: true,
            status: 200,
            ms: 40,
            text: 'It burns',
            tokens: { input: 7, output: 5 },
            request_id: 'r1',
          },
        },
        {
          event: 'case',
          data: {
            case: 0,
            version: 1,
            ok: false,
            status: 200,
            ms: 41,
            text: evil,
            problem: 'The reply does not have the expected text.',
          },
        },
      ]),
    });
    await page.fill('label:has-text("ticket") textarea', 'It burns');
    await page.click('button:text-is("Add a case of these values")');
    await page.fill('[aria-label="A text in it of case 1"]', 'burns');
    await page.selectOption('label:has-text("As the key") select', 'search');
    await page.click('button:text-is("Run the cases")');
    await page.waitForSelector('td .failed-text:has-text("does not have the expected text")');
    expect(lastBody()).toEqual({
      as: 'search',
      versions: [{ version: '1' }, { version: '2' }],
      cases: [{ variables: { ticket: 'It burns' }, text: 'burns' }],
    });
    expect(await page.locator('td:has-text("onerror")').count()).toBe(1);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('td .chip.ok').textContent()).toBe('passed');
    expect(await axe(page)).toEqual([]);
    await page.click('button:text-is("Stop")');
    expect(now.complaints).toEqual([]);
  });

  it('promotes a released version, and ends in a patch where a file has the prompt', async () => {
    const page = await open(`${PAGE}&v=2`, { 'POST /prompts/ticket-summary:promote': prompts[0]! });
    await page.click('button:text-is("Promote version 2")');
    await page.waitForSelector('dialog:has-text("stands for version 1 now")');
    await page.click('dialog button:text-is("Promote")');
    await expect.poll(() => served.calls.includes('POST /prompts/ticket-summary:promote')).toBe(true);
    expect(lastBody()).toEqual({ version: 2, label: 'production' });
    await open('#/prompts?row=greeting');
    await page.click('button:text-is("Propose as version 2")');
    await page.waitForSelector('dialog .diff .added:has-text("2: {}")');
    expect(lastBody()).toMatchObject({ id: 'greeting', spec: { versions: { 1: { text: 'Hello {{name}}' }, 2: {} } } });
  });
});
