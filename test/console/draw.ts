import type { Browser, Page } from 'playwright-core';
import { serveRecorded, streamOf, type Recorded } from './page.ts';
import { ANSWERS } from './recorded/answers.ts';
import { stats } from './recorded/objects.ts';
import { SCREENS } from './recorded/states.ts';

/** Most bytes of all pictures together. */
export const MOST_BYTES = 1_000_000;
const SIZE = { width: 1200, height: 720 };

type Act = (page: Page) => Promise<void>;
const click =
  (...texts: readonly string[]): Act =>
  async (page) => {
    for (const text of texts) await page.locator(text).first().click();
  };

interface Picture {
  readonly screen: keyof typeof SCREENS;
  readonly sign: string;
  readonly dark?: boolean;
  readonly act?: Act;
  readonly answers?: Readonly<Record<string, Recorded>>;
}

const CHUNK = `data: ${JSON.stringify({ choices: [{ delta: { content: 'A gateway stands **between** applications and models.' }, finish_reason: 'stop' }], usage: { prompt_tokens: 12, completion_tokens: 9 } })}\n\ndata: [DONE]\n\n`;
const playing: Act = async (page) => {
  await page.locator('label:has-text("Message") textarea').fill('What is a gateway?');
  await page.locator('button:text-is("Send")').click();
};
const EMPTY = {
  'GET /stats': { ...stats('nothing'), series: [] },
  'GET /settings': { reload: { ok: true }, warnings: [], configs: [], files: [] },
  'GET /budgets': { items: [] },
  'GET /providers': { items: [] },
  'GET /keys': { items: [] },
};
const PLAY = {
  'POST /playground': (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(CHUNK),
} satisfies Record<string, Recorded>;
const SAVED = {
  'POST /keys': { id: 'web', key: 'gatehouse_0000000000000000000000000000' },
  'POST /providers:test': ANSWERS['POST /providers:test'] ?? streamOf(),
};

/** Pictures of docs/operate/console.md, by name. */
const PICTURES: Readonly<Record<string, Picture>> = {
  requests: { screen: 'request', sign: '.timeline .lane' },
  why: { screen: 'why', sign: '.code .marked', dark: true },
  overview: { screen: 'overview', sign: '.plot canvas' },
  cost: { screen: 'cost', sign: '.days' },
};

/** The journey of a team, frame by frame, with the words below each. */
const FRAMES: readonly (Picture & { readonly words: string })[] = [
  { words: '1. The first steps', screen: 'overview', sign: 'text=First steps', answers: EMPTY },
  { words: '2. A request arrives, one is rescued', screen: 'request', sign: '.timeline .lane' },
  { words: '3. The line that decided', screen: 'why', sign: '.code .marked' },
  {
    words: '4. A provider is tested',
    screen: 'add',
    sign: '.test-steps .failed-text',
    act: click('button:text-is("Test")'),
    answers: SAVED,
  },
  { words: '5. What holds for a key', screen: 'key', sign: '.drawer .effective' },
  {
    words: '6. The effect of an edit',
    screen: 'config effect',
    sign: '.panels .notice.warning',
    act: click('button:has-text("Show the effect")'),
  },
  {
    words: '7. The tests of an edit',
    screen: 'config tests',
    sign: '.panels .notice.failed',
    act: click('button:has-text("Run the tests")'),
  },
  { words: '8. The playground', screen: 'play', sign: '.markdown', act: playing, answers: PLAY },
  { words: '9. Who has changed what', screen: 'audit-row', sign: '.drawer .diff' },
];

async function drawOne(browser: Browser, { screen, sign, dark = false, act, answers = {} }: Picture): Promise<Buffer> {
  const served = await serveRecorded({ ...ANSWERS, ...answers });
  const context = await browser.newContext({
    viewport: SIZE,
    colorScheme: dark ? 'dark' : 'light',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await page.goto(served.url + SCREENS[screen]);
  await page.waitForSelector('h1');
  await act?.(page);
  await page.waitForSelector(sign);
  await page.locator(sign).first().scrollIntoViewIfNeeded();
  const picture = await page.screenshot();
  await context.close();
  await served.close();
  return picture;
}

/** The frames beside each other, three in a row. */
async function drawFilm(browser: Browser): Promise<Buffer> {
  const frames: string[] = [];
  for (const frame of FRAMES) {
    const source = `data:image/png;base64,${(await drawOne(browser, frame)).toString('base64')}`;
    frames.push(`<figure><img src="${source}"><figcaption>${frame.words}</figcaption></figure>`);
  }
  const page = await browser.newPage({ viewport: { width: 1320, height: 600 } });
  await page.setContent(
    `<style>body{margin:0;display:grid;grid-template-columns:repeat(3,1fr);gap:12px;padding:12px;font:14px sans-serif;width:1320px;box-sizing:border-box}figure{margin:0}img{width:100%;border:1px solid #ccc}</style>${frames.join('')}`,
  );
  const film = await page.screenshot({ fullPage: true });
  await page.close();
  return film;
}

/** All pictures of the docs, by their file names. */
export async function drawPictures(browser: Browser): Promise<Readonly<Record<string, Buffer>>> {
  const drawn: Record<string, Buffer> = {};
  for (const [name, picture] of Object.entries(PICTURES)) drawn[`${name}.png`] = await drawOne(browser, picture);
  return { ...drawn, 'film.png': await drawFilm(browser) };
}
