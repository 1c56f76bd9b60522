import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { executable, openBrowser } from './chromium.ts';
import { axe, expectClean, LOOKS, openPage, type OpenPage } from './kit.ts';
import { serveRecorded, streamOf, type RecordedPage } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { STORED } from './recorded/configs.ts';
import { PRODUCTION, session } from './recorded/requests.ts';

const FILE = '#/configs?file=gateway/production.yaml';
const VALID = 'text=These settings are valid';

describe.skipIf(executable === undefined)('the screen of settings texts', () => {
  let browser: Browser;
  let served: RecordedPage;
  let now: OpenPage;

  const openAt = async (address: string, look = LOOKS[0]): Promise<void> => {
    now = await openPage(browser, `${served.url}${address}`, look);
  };
  const bodiesOf = (): readonly { readonly files?: Record<string, string> }[] =>
    served.bodies.map((text) => JSON.parse(text) as { files?: Record<string, string> });
  const calls = (name: string): number => served.calls.filter((call) => call === name).length;
  /** The text of the editor, which has all lines of a short text. */
  const written = (): Promise<string> =>
    now.page.evaluate<string>(
      `[...document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\\n')`,
    );
  /** By the keyboard alone: the editor has the focus when this ends. */
  const tabToEditor = async (): Promise<void> => {
    const isIn = (): Promise<boolean> =>
      now.page.evaluate<boolean>(`document.activeElement?.classList.contains('editor') ?? false`);
    for (let pressed = 0; pressed < 60 && !(await isIn()); pressed += 1) await now.page.keyboard.press('Tab');
    expect(await isIn()).toBe(true);
  };

  beforeAll(async () => {
    browser = await openBrowser();
  });
  beforeEach(async () => {
    served = await serveRecorded({ ...ANSWERS });
  });
  afterEach(async () => {
    await now.context.close();
    await served.close();
  });
  afterAll(() => browser?.close());

  it.each(LOOKS)(
    'goes from a file to its mark, its fix, the effect, the tests and the patch ($theme, $width)',
    async (look) => {
      await openAt('#/configs', look);
      await now.page.click('a:has-text("gateway/production.yaml")');
      await now.page.waitForSelector(VALID);
      await now.page.waitForSelector('.route .chip:has-text("failing")');
      await expectClean(now);
      await now.page.locator('.cm-line').nth(13).click();
      await now.page.keyboard.press('End');
      for (const key of ['Backspace', 'Backspace', 'Backspace', 'e', 'r', '"']) await now.page.keyboard.press(key);
      await now.page.waitForSelector('.cm-lint-marker-error');
      expect(await now.page.textContent('.marks')).toContain('there is no entry "@simulater"');
      await expectClean(now);
      await now.page.click('.marks button:has-text("Fix")');
      await now.page.waitForSelector(VALID);
      await now.page.locator('.cm-line').nth(0).click();
      await now.page.keyboard.press('End');
      await now.page.keyboard.type(' two');
      await now.page.click('button:text-is("Effect")');
      await now.page.click('button:has-text("Show the effect")');
      await now.page.waitForSelector('text=93 of 300 requests would change, 7 unknown');
      expect(await now.page.textContent('.panels')).toContain('@simulator/sim-error-503 → @simulator/sim-steady');
      await expectClean(now);
      await now.page.click('.panels .place:has-text("production.yaml:17")');
      await now.page.waitForSelector('.cm-activeLine:has-text("name: spare")');
      await now.page.click('button:text-is("Tests")');
      await now.page.click('button:has-text("Run the tests")');
      await now.page.waitForSelector('text=1 of 2 cases failed');
      await expectClean(now);
      await now.page.click('button:text-is("History")');
      await now.page.click('.panels summary');
      await now.page.waitForSelector('.diff .added');
      await expectClean(now);
      await now.page.click('button:has-text("Propose a patch")');
      await now.page.waitForSelector('dialog .diff .removed');
      await expectClean(now);
      const edited = PRODUCTION.replace('name: Production', 'name: Production two');
      expect(bodiesOf().at(-1)).toEqual({ files: { 'gateway/production.yaml': edited }, base: '04a0fcf0aa' });
    },
  );

  it('is used by the keyboard alone: completion, F8, Ctrl S, Ctrl Enter, and Esc then Tab leaves the editor', async () => {
    await openAt(FILE);
    await now.page.waitForSelector(VALID);
    await tabToEditor();
    await now.page.keyboard.press('Control+End');
    await now.page.keyboard.type('circuit_b', { delay: 20 });
    await now.page.waitForSelector('.cm-tooltip-autocomplete [aria-selected]');
    // CodeMirror gives its list no key for 75 ms, lest it takes one that was meant for the text.
    await now.page.waitForTimeout(200);
    await now.page.keyboard.press('Enter');
    await expect.poll(written).toContain('circuit_breaker: ');
    await now.page.keyboard.press('Control+z');
    const before = calls('POST /settings/validate');
    await now.page.keyboard.press('Control+s');
    await expect.poll(() => calls('POST /settings/validate')).toBeGreaterThan(before);
    await now.page.keyboard.press('Control+Enter');
    await now.page.waitForSelector('text=1 of 2 cases failed');
    await now.page.keyboard.press('g');
    await now.page.keyboard.press('r');
    // A key that the page knows is a letter here.
    expect(now.page.url()).toContain('#/configs');
    await now.page.keyboard.press('Escape');
    await now.page.keyboard.press('Escape');
    await now.page.keyboard.press('Tab');
    expect(await now.page.evaluate<boolean>(`document.activeElement.classList.contains('editor')`)).toBe(false);
  });

  it('takes what is typed over a selection, without an inline style of the browser', async () => {
    await openAt(FILE);
    await now.page.waitForSelector(VALID);
    await now.page.locator('.cm-line').nth(5).click();
    for (const key of ['Home', 'Shift+End']) await now.page.keyboard.press(key);
    await now.page.keyboard.type('- query: {}');
    expect((await written()).split('\n')[5]).toBe('    - query: {}');
    await expectClean(now);
  });

  it('goes to the next mark with F8', async () => {
    served.answers = {
      ...ANSWERS,
      'GET /settings/file': {
        path: 'x',
        hash: '04a0fcf0aa',
        text: PRODUCTION.replace('@simulator', '@simulater'),
        masked: [],
      },
    };
    await openAt(FILE);
    await now.page.waitForSelector('.cm-lint-marker-error');
    await tabToEditor();
    await now.page.keyboard.press('F8');
    await now.page.waitForSelector('.cm-activeLine:has-text("@simulater")');
    await now.page.waitForSelector('.cm-tooltip .cm-diagnosticAction');
    expect(await axe(now.page)).toEqual([]);
  });

  it('says in a hover what a key is', async () => {
    await openAt(FILE);
    await now.page.waitForSelector(VALID);
    await expect.poll(() => calls('GET /schemas/gateway')).toBe(1);
    await now.page.mouse.move(10, 10);
    await now.page.locator('.cm-line').nth(2).locator('span').first().hover();
    await now.page.waitForSelector('.hover:has-text("strategy")');
    await expectClean(now);
  });

  it('drops the late answer about an earlier text', async () => {
    const waiting: (() => void)[] = [];
    served.answers = {
      ...ANSWERS,
      'POST /settings/validate': (request, response, query) => {
        const answer = ANSWERS['POST /settings/validate'];
        const send = (): void => void (typeof answer === 'function' && answer(request, response, query));
        if (request.sent.includes('@simulater')) waiting.push(send);
        else send();
      },
    };
    await openAt(FILE);
    await now.page.waitForSelector(VALID);
    await now.page.locator('.cm-line').nth(13).click();
    await now.page.keyboard.press('End');
    for (const key of ['Backspace', 'Backspace', 'Backspace', 'e', 'r', '"']) await now.page.keyboard.press(key);
    await expect.poll(() => waiting.length).toBe(1);
    const before = calls('POST /settings/validate');
    for (let times = 0; times < 3; times += 1) await now.page.keyboard.press('Backspace');
    await now.page.keyboard.type('or"');
    await expect.poll(() => calls('POST /settings/validate')).toBeGreaterThan(before);
    for (const send of waiting) send();
    await now.page.waitForSelector(VALID);
    expect(await now.page.locator('.marks li').count()).toBe(0);
  });

  it('asks the validator once for what is typed without a pause', async () => {
    await openAt(FILE);
    await now.page.waitForSelector(VALID);
    await now.page.locator('.cm-line').nth(0).click();
    await now.page.keyboard.press('End');
    const before = calls('POST /settings/validate');
    await now.page.keyboard.insertText(' and');
    await now.page.keyboard.insertText(' more');
    await expect.poll(() => calls('POST /settings/validate')).toBe(before + 1);
    expect(bodiesOf().at(-1)?.files?.['gateway/production.yaml']).toContain('name: Production and more\n');
  });

  it('keeps an edit while another screen is open, and names it in the list', async () => {
    await openAt(FILE);
    await now.page.waitForSelector(VALID);
    await now.page.locator('.cm-line').nth(0).click();
    await now.page.keyboard.press('End');
    await now.page.keyboard.type(' kept');
    await now.page.click('.nav a:has-text("Keys")');
    await now.page.waitForSelector('h1:has-text("Keys")');
    await now.page.click('.nav a:has-text("Configs")');
    await now.page.waitForSelector('[role=cell]:has-text("1 mistake")');
    await now.page.click('a:has-text("gateway/production.yaml")');
    await now.page.waitForSelector('.cm-line:has-text("name: Production kept")');
    await now.page.click('button:has-text("Discard the edit")');
    await expect.poll(written).toMatch(/^name: Production\n/);
  });

  it('saves a config of the store with its ETag; after a 412 both sides are shown, and the person chooses', async () => {
    let version = 7;
    const stored = { id: 'search', owner: 'store', updated_by: 'bob', updated_at: null };
    served.answers = {
      ...ANSWERS,
      'GET /configs/search': (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            ...stored,
            etag: `"${version}"`,
            spec: { text: version === 7 ? STORED : STORED.replace('steady', 'theirs') },
          }),
        ),
      'PATCH /configs/search': (request, response) => {
        const isMatch = request.headers['if-match'] === `"${version}"`;
        version += 1;
        response
          .writeHead(isMatch ? 200 : 412, { 'content-type': isMatch ? 'application/json' : 'application/problem+json' })
          .end(
            JSON.stringify(
              isMatch
                ? { ...stored, etag: `"${version}"`, spec: {} }
                : {
                    status: 412,
                    code: 'precondition_failed',
                    detail: 'The object has another ETag now: read it again.',
                  },
            ),
          );
      },
    };
    await openAt('#/configs?file=store/configs/search');
    await now.page.waitForSelector(VALID);
    await now.page.locator('.cm-line').nth(0).click();
    await now.page.keyboard.press('Control+End');
    await now.page.keyboard.type('# mine');
    version = 8;
    await now.page.click('button:text-is("Save")');
    await now.page.waitForSelector('[aria-label="Both sides"] .diff');
    await expectClean(now);
    expect(await now.page.locator('[aria-disabled=true]:has-text("Save")').count()).toBe(1);
    await now.page.click('button:has-text("Go on with mine")');
    await now.page.click('button:text-is("Save")');
    await now.page.waitForSelector('[aria-disabled=true]:has-text("Nothing has been edited")');
    expect(JSON.parse(served.bodies.findLast((text) => text.includes('"spec"'))!)).toEqual({
      spec: { text: `${STORED}# mine` },
    });
  });

  it('shows texts of hostile people as texts, wherever they stand and however long they are', async () => {
    const evil = `<img src=x onerror=alert(1)>${'along'.repeat(50)}`;
    const way = { to: `@${evil}`, place: { file: evil, line: 1, column: 1 } };
    served.answers = {
      ...ANSWERS,
      'GET /settings/file': {
        path: 'x',
        hash: 'h',
        text: `name: "${evil}"\ntargets: [{ name: "${evil}", provider: "@${evil}" }]\n`,
        masked: [],
      },
      'POST /settings/validate': {
        hash: null,
        unchecked: [evil],
        diagnostics: [
          {
            file: 'gateway/production.yaml',
            line: 1,
            column: 7,
            severity: 'error',
            message: evil,
            fix: { line: 1, column: 7, end_column: 9, text: evil },
          },
        ],
      },
      'GET /settings/history': {
        items: [
          {
            hash: evil,
            at: '2026-11-28T18:00:00Z',
            by: evil,
            files: [{ path: 'gateway/production.yaml', patch: `+${evil}\n` }],
          },
        ],
      },
      'POST /settings/effect': streamOf([
        {
          event: 'change',
          data: { sample: evil, count: 1, before: way, after: way, fields: [{ path: evil, before: evil }] },
        },
        { event: 'done', data: { same: 0, changed: 1, unknown: 1, reasons: [{ reason: evil, count: 1 }] } },
      ]),
      'POST /settings/tests': streamOf([
        {
          event: 'case',
          data: { file: evil, line: 1, name: evil, ok: false, differences: [{ what: evil, expected: evil }] },
        },
        { event: 'done', data: { passed: 0, failed: 1, problems: [evil] } },
      ]),
    };
    const outside = `[...document.querySelectorAll('.marks, .panels')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className)`;
    await openAt(FILE);
    await now.page.waitForSelector(`.marks li:has-text("onerror")`);
    await tabToEditor();
    await now.page.keyboard.press('F8');
    await now.page.waitForSelector('.cm-tooltip .cm-diagnostic');
    await now.page.click('button:text-is("History")');
    await now.page.click('.panels summary');
    await expectClean(now);
    for (const [tab, run] of [
      ['Effect', 'Show the effect'],
      ['Tests', 'Run the tests'],
    ]) {
      await now.page.click(`button:text-is("${tab}")`);
      await now.page.click(`button:has-text("${run}")`);
      await now.page.waitForSelector('.panels li:has-text("onerror")');
      await expectClean(now);
      expect(await now.page.evaluate<string[]>(outside)).toEqual([]);
    }
    const images = `document.querySelectorAll('img').length + document.querySelector('.editor').shadowRoot.querySelectorAll('img').length`;
    expect(await now.page.evaluate<number>(images)).toBe(0);
  });

  it('keeps an edit when the session ends, and asks before the browser drops it', async () => {
    await openAt(FILE);
    await now.page.waitForSelector(VALID);
    served.answers = { ...ANSWERS, 'POST /settings/validate': 401, 'POST /session': { ...session, csrf: 'half' } };
    await now.page.locator('.cm-line').nth(0).click();
    await now.page.keyboard.press('End');
    await now.page.keyboard.type(' kept');
    await now.page.waitForSelector('dialog:has-text("admin token")');
    served.answers = { ...served.answers, 'POST /settings/validate': ANSWERS['POST /settings/validate']! };
    await now.page.fill('dialog input', 'a token');
    await now.page.keyboard.press('Enter');
    await now.page.waitForSelector(VALID);
    expect(bodiesOf().at(-1)?.files?.['gateway/production.yaml']).toContain('name: Production kept\n');
    const asked = now.page.waitForEvent('dialog');
    await now.page.close({ runBeforeUnload: true });
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    expect(await written()).toMatch(/^name: Production kept\n/);
  });

  it('opens a config of ten thousand lines, and draws a part of its route', async () => {
    const text = `name: many\ntargets:\n${'  - provider: "@simulator"\n'.repeat(10_000)}`;
    served.answers = { ...ANSWERS, 'GET /settings/file': { path: 'x', hash: 'h', text, masked: [] } };
    await openAt(FILE);
    await now.page.waitForSelector('text=9,800 targets more');
    expect(await now.page.locator('.route button').count()).toBe(201);
    await now.page.locator('.cm-line').nth(0).click();
    await now.page.keyboard.press('End');
    await now.page.keyboard.type(' and more');
    await expect
      .poll(() => bodiesOf().at(-1)?.files?.['gateway/production.yaml']?.slice(0, 30))
      .toContain('name: many and more\n');
    await expectClean(now);
  });

  it('says what the gateway could not answer, and goes on when it can', async () => {
    served.answers = { ...ANSWERS, 'GET /settings/names': 500, 'GET /providers': 503 };
    await openAt(FILE);
    await now.page.waitForSelector('.notice.failed:has-text("500")');
    // Not known is not "no calls".
    await now.page.waitForSelector('.route .chip:has-text("unknown")');
    served.answers = ANSWERS;
    await now.page.click('button:has-text("Retry")');
    await now.page.waitForSelector('.notice.failed', { state: 'detached' });
    await expectClean(now);
  });

  it('says when the code of the editor does not come, and the rest of the page works', async () => {
    now = await openPage(browser, 'about:blank');
    await now.page.route('**/editor-*.js', (route) => route.abort());
    await now.page.goto(`${served.url}${FILE}`);
    await now.page.waitForSelector('.notice.failed:has-text("could not be loaded")');
    await now.page.click('.nav a:has-text("Requests")');
    await now.page.waitForSelector('.table-body .table-row');
    expect(now.complaints.filter((text) => text.startsWith('thrown'))).toEqual([]);
  });

  it('begins a new config: as a file by a patch, or in the store', async () => {
    await openAt('#/configs');
    await now.page.click('button:has-text("New config")');
    await now.page.fill('dialog input', 'fresh');
    served.answers = { ...served.answers, 'GET /configs/fresh': 404 };
    await now.page.keyboard.press('Enter');
    await now.page.waitForSelector('h1:has-text("Configs: fresh")');
    await now.page.waitForSelector('text=in the store (new)');
    await now.page.locator('.cm-line').first().click();
    await now.page.keyboard.type('name: x');
    await now.page.click('button:text-is("Save")');
    await expect
      .poll(() => served.bodies.some((text) => text === JSON.stringify({ id: 'fresh', spec: { text: 'name: x' } })))
      .toBe(true);
  });
});
