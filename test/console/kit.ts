import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import axeCore from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

const root = join(import.meta.dirname, '../..');

let built = false;

/** The page of the sources that are tested, once for each process. */
export function buildPage(): void {
  if (built) return;
  execFileSync(process.execPath, [join(root, 'build/console.ts')], { cwd: root });
  built = true;
}

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
  const { wider, higher } = await page.evaluate<{ wider: number; higher: number }>(
    `(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
      ({ wider: scrollWidth - clientWidth, higher: innerWidth < 760 ? 0 : scrollHeight - clientHeight }))(document.documentElement)`,
  );
  expect(wider).toBeLessThanOrEqual(0);
  // On a wide screen the parts of the page scroll, not the page.
  expect(higher).toBeLessThanOrEqual(0);
}
