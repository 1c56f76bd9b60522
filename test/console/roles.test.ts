import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executable, openBrowser } from './chromium.ts';
import { openPage, type OpenPage } from './kit.ts';
import { serveRecorded, type RecordedPage } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { session } from './recorded/requests.ts';
import { SCREENS } from './recorded/states.ts';

const ROLES = ['viewer', 'operator', 'admin'] as const;
type Role = (typeof ROLES)[number];

interface Button {
  readonly screen: keyof typeof SCREENS;
  readonly name: string;
  readonly least: Role | 'content';
  /** Without a store other roles may do it. */
  readonly store?: false;
  readonly before?: (page: Page) => Promise<void>;
}

const type = (label: string, text: string) => (page: Page) =>
  page.locator(`label:has-text("${label}") input`).fill(text);

/** Every button that a role or a right opens. */
const BUTTONS: readonly Button[] = [
  { screen: 'overview', name: 'Send it from here', least: 'operator' },
  { screen: 'request', name: 'Show texts', least: 'content' },
  { screen: 'capture', name: 'Start the capture', least: 'admin' },
  { screen: 'entry', name: 'Test', least: 'operator' },
  { screen: 'entry', name: 'Test with a small call (it costs)', least: 'operator' },
  { screen: 'add', name: 'Test', least: 'admin' },
  { screen: 'add', name: 'Test', least: 'operator', store: false },
  { screen: 'add', name: 'Save the entry', least: 'admin' },
  { screen: 'add', name: 'Propose a patch', least: 'operator', store: false },
  { screen: 'stored', name: 'Delete the entry', least: 'admin' },
  { screen: 'key', name: 'Rotate the key', least: 'operator' },
  { screen: 'key', name: 'Revoke the key', least: 'operator' },
  { screen: 'key', name: 'Create a budget', least: 'admin', before: type('Cap', '5 USD') },
  { screen: 'team', name: 'Adjust', least: 'operator' },
  { screen: 'create', name: 'Create the key', least: 'admin', before: type('Id', 'web') },
  { screen: 'create', name: 'Create the key', least: 'operator', store: false, before: type('Id', 'web') },
  { screen: 'config effect', name: 'Show the effect', least: 'viewer' },
  { screen: 'config tests', name: 'Run the tests', least: 'operator' },
  {
    screen: 'stored config',
    name: 'Save',
    least: 'admin',
    before: async (page) => {
      await page.locator('.cm-line').first().click();
      await page.keyboard.type('# ');
    },
  },
  { screen: 'prompt', name: 'Release version 3', least: 'admin' },
  { screen: 'prompt', name: 'Save as version 4', least: 'admin' },
  { screen: 'prompt', name: 'Delete the prompt', least: 'admin' },
  { screen: 'prompt-file', name: 'Propose as version 2', least: 'operator' },
  {
    screen: 'add-prompt',
    name: 'Create the prompt',
    least: 'admin',
    before: async (page) => {
      await type('Id', 'x')(page);
      await page.locator('label:has-text("Text") textarea').fill('Hello');
    },
  },
  { screen: 'webhook', name: 'Test', least: 'operator' },
  { screen: 'webhook', name: 'Delete the webhook', least: 'admin' },
  { screen: 'create-token', name: 'Create the token', least: 'admin', before: type('Id', 'ann') },
  {
    screen: 'add-webhook',
    name: 'Save the webhook',
    least: 'admin',
    before: async (page) => {
      await type('Id', 'ops')(page);
      await type('Address', 'https://alerts.example/x')(page);
    },
  },
  {
    screen: 'play',
    name: 'Send',
    least: 'operator',
    before: (page) => page.locator('label:has-text("Message") textarea').fill('hello'),
  },
];

describe.skipIf(executable === undefined)('a button', () => {
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

  const open = async ({ screen, name, store, before }: Button, rights: object): Promise<Locator> => {
    const features = { ...session.features, ...(store === false && { store: false, owns: [] }) };
    served.answers = {
      ...ANSWERS,
      'GET /session': { ...session, features, ...rights },
      'GET /stats': {
        step_s: 10,
        since: '2026-11-28T17:00:00Z',
        points: 0,
        series: [],
        other: null,
        complete_since: null,
      },
    };
    served.calls.length = 0;
    await now.page.goto('about:blank');
    await now.page.goto(`${served.url}${SCREENS[screen]}`);
    const found = now.page.locator('button:visible').filter({ hasText: name }).first();
    await found.waitFor();
    await before?.(now.page);
    return now.page
      .getByRole('button', { name: new RegExp(`^${name.replaceAll(/[()]/g, String.raw`\$&`)}( ?This .*)?$`) })
      .last();
  };

  it.each(BUTTONS)('"$name" on $screen takes $least', async (button) => {
    for (const role of ROLES) {
      for (const content of button.least === 'content' ? [false, true] : [true]) {
        const found = await open(button, { role, content });
        const may = button.least === 'content' ? content : ROLES.indexOf(role) >= ROLES.indexOf(button.least);
        expect([role, await found.getAttribute('aria-disabled')]).toEqual([role, String(!may)]);
        if (may) continue;
        const before = served.calls.length;
        await found.click({ force: true });
        await now.page.waitForSelector(`.warning-text:has-text("${button.least}")`);
        // The validator is asked while a text is open, and writes nothing.
        const asked = served.calls.slice(before).filter((call) => call !== 'POST /settings/validate');
        expect(asked.filter((call) => !call.startsWith('GET'))).toEqual([]);
      }
    }
  });
});
