import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { executable, openBrowser } from './chromium.ts';
import { expectClean, LOOKS, openPage, type Look, type OpenPage } from './kit.ts';
import { serveRecorded, type Recorded, type RecordedPage } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { fired } from './recorded/govern.ts';
import { idOf, lines, request, session } from './recorded/requests.ts';
import { isFull } from '../support/effort.ts';

const WHY = `#/requests/${idOf(0)}/why`;

/** The screens, what shows that they are there, and the calls that they may make. */
const SCREENS: readonly (readonly [address: string, sign: string, calls: number])[] = [
  ['#/', 'h2:has-text("What is wrong now")', 10],
  ['#/requests', '.table-body .table-row', 3],
  [`#/requests?row=${idOf(0)}`, '.timeline', 4],
  [`#/requests?row=${idOf(0)}&case=1`, 'dialog .command', 5],
  ['#/requests?capture=1', 'dialog .card', 4],
  [WHY, '.code .marked', 5],
  [`${WHY}?tab=sent`, 'td:has-text("temperature")', 4],
  [`${WHY}?tab=what-if`, '.ways li', 5],
  ['#/cost?month=2026-11', '.days', 8],
  ['#/cost?tab=cache', 'td:has-text("claude-sonnet-4-5")', 3],
  ['#/providers?entry=vertex', '.drawer', 3],
  ['#/providers?add=1', '.kinds button', 4],
  ['#/keys?key=search', '.drawer .effective', 8],
  ['#/keys?add=1', 'dialog', 6],
  ['#/play', '.columns .card', 4],
  ['#/prompts', '.table-body [role=cell]', 3],
  ['#/prompts?row=ticket-summary', 'button:has-text("Declare reader")', 3],
  ['#/prompts?row=ticket-summary&tab=cases', 'button:has-text("Add a case")', 4],
  ['#/prompts?row=ticket-summary&tab=diff&with=1', '.diff .added', 3],
  ['#/prompts?row=ticket-summary&tab=code', '.command', 3],
  [`#/alerts?row=${fired[0]!.id}`, '.drawer table', 3],
  ['#/alerts?tab=webhooks&row=ops', '.drawer .facts', 3],
  ['#/plugins', 'td:has-text("house-rules")', 3],
  ['#/people?row=grafana', '.drawer .facts', 4],
  ['#/people?tab=people', 'td:has-text("loopback")', 4],
  ['#/audit?row=119', '.drawer .diff .added', 3],
];

/** The state of captures is asked for every few seconds: a slow machine looks longer at the screen. */
const withoutPolls = (calls: readonly string[]): readonly string[] =>
  calls.filter((call, at) => call !== 'GET /captures' || calls.indexOf(call) === at);

/** The gate shows each screen once, in one look; the full run in all of them. */
const looksOf = (index: number): readonly Required<Look>[] =>
  isFull('console') ? LOOKS : LOOKS.filter((_, at) => at === index % LOOKS.length);

describe.skipIf(executable === undefined)('the page', () => {
  let browser: Browser;
  let served: RecordedPage | undefined;
  let opened: OpenPage | undefined;

  const open = async (address: string, answers: Record<string, Recorded> = {}, look: Look = {}): Promise<OpenPage> => {
    served = await serveRecorded({ ...ANSWERS, ...answers });
    opened = await openPage(browser, served.url + address, look);
    return opened;
  };
  const close = async (): Promise<void> => {
    await opened?.context.close();
    await served?.close();
    opened = undefined;
    served = undefined;
  };

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => {
    await close();
    await browser.close();
  });

  it.each(SCREENS.map((screen, index) => [...screen, index] as const))(
    '%s breaks no rule of accessibility, reports nothing, and calls no other host',
    async (address, sign, calls, index) => {
      for (const look of looksOf(index)) {
        const now = await open(address, {}, look);
        await now.page.waitForSelector(sign);
        await expectClean(now);
        expect(withoutPolls(served?.calls ?? []).length).toBeLessThanOrEqual(calls);
        await close();
      }
    },
  );

  it('has a page for an address that is none of its own', async () => {
    const now = await open('#/nowhere');
    await now.page.waitForSelector('text=There is nothing at this address');
    await expectClean(now);
    await close();
  });

  it('signs in over the page: the call that was refused is sent again, with the half that scripts hold', async () => {
    let signedIn = false;
    const guarded =
      (answer: object): Recorded =>
      (asked, response) => {
        const may = signedIn && asked.headers['x-gatehouse-csrf'] === 'half';
        response.writeHead(may ? 200 : 401, { 'content-type': may ? 'application/json' : 'application/problem+json' });
        response.end(JSON.stringify(may ? answer : { code: 'unauthorized', detail: 'No.', status: 401 }));
      };
    const now = await open('#/keys?key=search', {
      'GET /session': guarded(session),
      'GET /keys': guarded(ANSWERS['GET /keys'] as object),
      'POST /session': (_, response) => {
        signedIn = true;
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...session, csrf: 'half' }));
      },
    });
    await now.page.fill('dialog input[type=password]', 'gha_canary');
    await now.page.keyboard.press('Enter');
    await now.page.waitForSelector('.drawer .effective');
    expect(await now.page.evaluate<string>('JSON.stringify({ ...localStorage })')).not.toContain('canary');
    expect(now.page.url()).not.toContain('canary');
    expect(await now.page.content()).not.toContain('gha_canary');
    await close();
  });

  it('shows names of callers and replies of models as text, never as elements', async () => {
    const evil = '<img src=x onerror="document.title=1">';
    const row = { ...lines(1)[0], key_id: evil, request_model: evil, metadata: { app: evil } };
    const record = {
      ...request,
      key_id: evil,
      metadata: { app: evil },
      attempts: [{ ...request.attempts[0], request_model: evil, failure: { upstream_message: evil, code: evil } }],
    };
    const chunk = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
    const now = await open(`#/requests?row=${idOf(0)}`, {
      'GET /requests': { items: [row], oldest: null, partial: [] },
      [`GET /requests/${idOf(0)}`]: record,
      'POST /playground': (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(
            `${chunk(`# ${evil}\n\n`)}${chunk(`[a](javascript:alert(1)) ![b](https://elsewhere.example/x.png) ${evil}`)}data: [DONE]\n\n`,
          ),
    });
    await now.page.waitForSelector('.timeline');
    expect(await now.page.locator('img').count()).toBe(0);
    await now.page.goto(`${served!.url}#/play?as=search`);
    await now.page.fill('.play textarea >> nth=1', 'hello');
    await now.page.click('button:has-text("Send")');
    await now.page.waitForSelector('.markdown:has-text("onerror")');
    expect(await now.page.locator('img, .markdown a').count()).toBe(0);
    expect(now.complaints).toEqual([]);
    await close();
  });

  it('opens one stream for all tabs, and another tab takes it over', async () => {
    const now = await open('#/requests');
    const streams = (): number => served!.calls.filter((call) => call.startsWith('GET /stream')).length;
    await expect.poll(streams).toBe(1);
    const second = await now.context.newPage();
    await second.goto(`${served!.url}#/requests`);
    await second.waitForSelector('.live:has-text("Live")');
    expect(streams()).toBe(1);
    await now.page.close();
    await expect.poll(streams).toBe(2);
    await close();
  });

  it('works under a prefix of two segments', async () => {
    served = await serveRecorded({ ...ANSWERS }, '/tools/gw');
    opened = await openPage(browser, `${served.url}#/requests`);
    await opened.page.waitForSelector('.table-body .table-row');
    expect(opened.complaints).toEqual([]);
    await close();
  });
});
