import { createHash } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { isFull } from '../support/effort.ts';
import { executable, openBrowser } from './chromium.ts';
import { expectClean, LOOKS, openPage, type OpenPage } from './kit.ts';
import { serveRecorded, type RecordedPage } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { SCREENS, STATES } from './recorded/states.ts';

type Case = readonly [state: string, screen: keyof typeof SCREENS, sign: string];

const CASES: readonly Case[] = Object.entries(STATES).flatMap(([state, { signs }]) =>
  Object.entries(signs).map(([screen, sign]): Case => [state, screen as keyof typeof SCREENS, sign]),
);

/** The gate shows each screen and state once, in the look that their names choose; the full run in all of them. */
const looksOf = (...names: readonly string[]): readonly number[] => {
  const all = LOOKS.map((_, index) => index);
  const chosen = createHash('sha256').update(names.join()).digest().readUInt8() % LOOKS.length;
  return isFull('console') ? all : [chosen];
};

describe.skipIf(executable === undefined)('the page', () => {
  let browser: Browser;
  let served: RecordedPage;
  const pages: OpenPage[] = [];

  beforeAll(async () => {
    served = await serveRecorded({});
    browser = await openBrowser();
    for (const look of LOOKS) pages.push(await openPage(browser, 'about:blank', look));
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  it.each(CASES)('has a state for %s on the screen %s', async (state, screen, sign) => {
    const { answers, addresses } = STATES[state]!;
    served.answers = { ...ANSWERS, ...answers(screen) };
    for (const index of looksOf(state, screen)) {
      const now = pages[index]!;
      now.complaints.length = 0;
      // Another query: the same page would only change its hash.
      await now.page.goto(
        `${served.url}?${encodeURIComponent(`${state} ${screen}`)}${addresses?.[screen] ?? SCREENS[screen]}`,
      );
      await now.page.waitForSelector(sign);
      await expectClean(now);
      await now.page.goto('about:blank');
    }
  });
});
