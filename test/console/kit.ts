import axeCore from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Complaints of the browser: errors, reports of the policy, requests to other hosts. */
  readonly complaints: string[];
}

export interface Look {
  readonly theme?: 'light' | 'dark';
  readonly width?: 1280 | 390;
}

export const LOOKS: readonly Required<Look>[] = (['light', 'dark'] as const).flatMap((theme) =>
  ([1280, 390] as const).map((width) => ({ theme, width })),
);

/** Complaints that a test provokes by an answer that is no success. */
const EXPECTED = /^error: Failed to load resource: the server responded with a status of [45]/;

export async function openPage(
  browser: Browser,
  url: string,
  { theme = 'light', width = 1280 }: Look = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width, height: width === 390 ? 844 : 820 },
    colorScheme: theme,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  // A loaded machine may take long: the test has two minutes.
  context.setDefaultTimeout(100_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const text = `${message.type()}: ${message.text()}`;
    if (['error', 'warning'].includes(message.type()) && !EXPECTED.test(text)) complaints.push(text);
  });
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') complaints.push(`another host: ${request.url()}`);
  });
  await context.addInitScript(
    "document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`))",
  );
  await page.goto(url);
  return { page, context, complaints };
}

/** The rules of axe that the page breaks, each with its first element. */
export async function axe(page: Page): Promise<string[]> {
  // A debugger may evaluate what the policy of the page forbids the page itself.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axeCore.source);
  return page.evaluate<string[]>(
    'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)} ${nodes[0].failureSummary}`))',
  );
}

export async function expectClean({ page, complaints }: OpenPage): Promise<void> {
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
  const { wider, higher, flat, sideways } = await page.evaluate<{
    wider: number;
    higher: number;
    flat: string[];
    sideways: string[];
  }>(
    `(({ scrollWidth, clientWidth, scrollHeight, clientHeight }, isNarrow) => {
      const those = (selector, are) =>
        [...document.querySelectorAll(selector)].filter((one) => one.clientHeight > 0 && are(one)).map((one) => one.outerHTML.slice(0, 160));
      return {
        wider: scrollWidth - clientWidth,
        higher: isNarrow ? 0 : scrollHeight - clientHeight,
        flat: those('.segments, .versions, .scroll, .command, .diff', (one) => one.clientHeight < 20),
        sideways: those('div.scroll', (one) => isNarrow && one.scrollWidth > one.clientWidth),
      };
    })(document.documentElement, innerWidth < 760)`,
  );
  expect(flat).toEqual([]);
  // Only code scrolls sideways on a narrow screen.
  expect(sideways).toEqual([]);
  expect(wider).toBeLessThanOrEqual(0);
  // On a wide screen the parts of the page scroll, not the page.
  expect(higher).toBeLessThanOrEqual(0);
}
