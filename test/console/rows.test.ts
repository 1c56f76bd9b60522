import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executable, openBrowser } from './chromium.ts';
import { openPage } from './kit.ts';
import { serveRecorded, type Recorded } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { keyList, providers } from './recorded/objects.ts';
import { idOf, lines, request } from './recorded/requests.ts';

const SECONDS = 10;
const ROWS_A_SECOND = 50;
const LONG_MS = 50;

describe.skipIf(executable === undefined)('the list of requests', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('has at most 60 rows as elements at 10,000, and moves through them by keys', async () => {
    const all = lines(10_000);
    const pages: Recorded = (_, response, query) => {
      const at = Number(query.get('cursor') ?? 0);
      const next = at + 200 < all.length ? String(at + 200) : undefined;
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ items: all.slice(at, at + 200), next, oldest: null, partial: [] }));
    };
    const served = await serveRecorded({ ...ANSWERS, 'GET /requests': pages, [`GET /requests/${idOf(1)}`]: request });
    const { page, context } = await openPage(browser, `${served.url}#/requests`);
    await page.waitForSelector('.table-body .table-row');
    const body = page.locator('.table-body');
    const size = (): Promise<string | null> => page.getAttribute('[role=table]', 'aria-rowcount');
    for (let turn = 0; turn < 49; turn += 1) {
      const before = await size();
      await body.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await expect.poll(size).not.toBe(before);
    }
    expect(await size()).toBe('10001');
    expect(await page.locator('.table-body .table-row').count()).toBeLessThanOrEqual(60);
    await body.evaluate((element) => element.scrollTo(0, 0));
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.waitForSelector('.drawer .timeline');
    expect(page.url()).toContain(idOf(1));
    await context.close();
    await served.close();
  });

  it.each([
    ['keys', 'GET /keys', (index: number) => ({ ...keyList[0]!, id: `key-${index}` })],
    ['providers', 'GET /providers', (index: number) => ({ ...providers[0]!, slug: `entry-${index}`, targets: [] })],
  ] as const)('has at most 60 rows as elements for 10,000 %s, and opens one of them', async (screen, path, itemOf) => {
    const pages: Recorded = (_, response, query) => {
      const at = Number(query.get('cursor') ?? 0);
      const items = Array.from({ length: 1000 }, (_item, index) => itemOf(at + index));
      const body = { items, ...(at + 1000 < 10_000 && { next: String(at + 1000) }) };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const served = await serveRecorded({ ...ANSWERS, [path]: pages });
    const { page, context } = await openPage(browser, `${served.url}#/${screen}`);
    await page.waitForSelector('.table-body .table-row');
    expect(Number(await page.getAttribute('[role=table]', 'aria-rowcount'))).toBeGreaterThan(10_000);
    const body = page.locator('.table-body');
    await body.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
    await expect
      .poll(() => page.locator('.table-body .table-row >> nth=20').getAttribute('aria-rowindex'))
      .toMatch(/^[45]\d{3}$/);
    expect(await page.locator('.table-body .table-row').count()).toBeLessThanOrEqual(60);
    await page.click('.table-body .table-row >> nth=12');
    await page.waitForSelector('.drawer');
    expect(page.url()).toMatch(/=(?:key|entry)-[45]\d{3}$/);
    await context.close();
    await served.close();
  });

  it('shows 50 new rows a second for 10 s with at most one task of more than 50 ms of work', async () => {
    const all = lines(SECONDS * ROWS_A_SECOND).map((line, index) => ({ ...line, request_id: `live-${index}` }));
    let timer: ReturnType<typeof setInterval> | undefined;
    const served = await serveRecorded({
      ...ANSWERS,
      'GET /stream': (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        timer ??= setInterval(() => {
          const line = all.shift();
          if (!line) return clearInterval(timer);
          response.write(`event: line\nid: ${all.length}\ndata: ${JSON.stringify({ ...line, time: new Date() })}\n\n`);
        }, 1000 / ROWS_A_SECOND);
      },
    });
    const { page, context } = await openPage(browser, `${served.url}#/requests`);
    await page.waitForSelector('.table-body .table-row');
    const session = await context.newCDPSession(page);
    const tasks: { readonly dur: number; readonly tdur?: number }[] = [];
    session.on('Tracing.dataCollected', ({ value }) => {
      // The page's own thread runs its tasks under this name; `tdur` is the time that the thread had a processor.
      for (const event of value as unknown as { name: string; dur: number; tdur?: number; pid: number }[])
        if (event.name === 'RunTask' || event.name === 'ThreadControllerImpl::RunTask') tasks.push(event);
    });
    await session.send('Tracing.start', { categories: 'toplevel,devtools.timeline', transferMode: 'ReportEvents' });
    await expect.poll(() => all.length, { timeout: 60_000, interval: 500 }).toBe(0);
    const ended = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await ended;
    expect(tasks.length).toBeGreaterThan(100);
    const long = tasks.filter(({ dur, tdur = dur }) => tdur > LONG_MS * 1000).map(({ tdur }) => tdur);
    expect(long.length, `of ${long.join(', ')} µs`).toBeLessThanOrEqual(1);
    await expect.poll(() => page.locator('.segments button >> nth=0').textContent()).toContain('680');
    await context.close();
    await served.close();
  });
});
