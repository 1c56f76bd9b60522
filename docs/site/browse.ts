/**
 * Opens the built site in Chromium, asks its search three questions and follows a result of each: `npm run docs:browse`, after
 * `docs:build`. Needs Chromium (Debian: apt-get install chromium); CHROMIUM names another program.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { QUESTIONS } from './questions.ts';

const SITE = join(import.meta.dirname, 'dist');
const ASKED = 3;
const LIMIT_MS = 20_000;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** Requests of the page that did not find a file. */
const missing: string[] = [];

function serveSite() {
  return createServer(({ url = '/' }, res) => {
    const path = decodeURIComponent(url.replace(/[?#].*$/, ''));
    const file = join(SITE, normalize(path.endsWith('/') ? `${path}index.html` : path));
    try {
      const bytes = readFileSync(file);
      res.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(bytes);
    } catch {
      // Browsers ask for it by themselves.
      if (path !== '/favicon.ico') missing.push(path);
      res.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
}

/** The page of a browser, driven by the Chrome DevTools Protocol. */
class Page {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  #calls = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer;
      this.#pending.get(answer.id)?.(answer);
    });
  }

  async call(method: string, params: object = {}): Promise<Answer> {
    const id = (this.#calls += 1);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#pending.set(id, resolve));
  }

  /** The value of an expression in the page. */
  async value(expression: string): Promise<unknown> {
    const { result } = await this.call('Runtime.evaluate', { expression, returnByValue: true });
    return result?.result?.value;
  }

  /** Waits until an expression is true. */
  async until(expression: string): Promise<void> {
    const end = Date.now() + LIMIT_MS;
    while ((await this.value(expression)) !== true) {
      if (Date.now() > end) throw new Error(`the browser waited ${LIMIT_MS} ms for: ${expression}`);
      await sleep(50);
    }
  }
}

interface Answer {
  readonly id: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/** Asks as a person does: opens the search, types, and clicks the result that leads to the page. */
async function ask(page: Page, site: string, [question, answer]: (typeof QUESTIONS)[number]): Promise<void> {
  await page.call('Page.navigate', { url: `${site}/` });
  await page.until(`document.querySelector('.DocSearch-Button') !== null && document.readyState === 'complete'`);
  const input = `document.querySelector('.VPLocalSearchBox input')`;
  // The button does nothing until the page has its scripts.
  await page.until(`${input} !== null || (document.querySelector('.DocSearch-Button').click(), false)`);
  await page.value(`${input}.focus()`);
  await page.call('Input.insertText', { text: question });
  const result = `document.querySelector('.VPLocalSearchBox .result[href*="/${answer}"]')`;
  await page.until(`${result} !== null`);
  await page.value(`${result}.click()`);
  await page.until(`location.pathname === '/${answer}' && document.querySelector('main h1') !== null`);
  process.stdout.write(`"${question}" leads to /${answer}: ${String(await page.value('document.title'))}\n`);
}

const server = serveSite();
await once(server, 'listening');
const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const profile = mkdtempSync(join(tmpdir(), 'gatehouse-browser-'));
const flags = [
  '--headless',
  '--disable-gpu',
  '--no-first-run',
  '--remote-debugging-port=0',
  `--user-data-dir=${profile}`,
];
// Chromium has no sandbox for root.
if (process.getuid?.() === 0) flags.push('--no-sandbox');
const browser = spawn(process.env['CHROMIUM'] ?? 'chromium', [...flags, 'about:blank'], {
  stdio: ['ignore', 'ignore', 'pipe'],
});
try {
  let said = '';
  const port = await new Promise<string>((resolve, reject) => {
    browser.once('error', reject).once('exit', () => reject(new Error(`Chromium ended: ${said.slice(0, 500)}`)));
    browser.stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
      const listens = /listening on ws:\/\/127\.0\.0\.1:(\d+)/.exec(said);
      if (listens) resolve(listens[1]!);
    });
  });
  const [listed] = (await once(get(`http://127.0.0.1:${port}/json/list`), 'response')) as [IncomingMessage];
  const tabs = (await json(listed)) as readonly Tab[];
  const socket = new WebSocket(tabs.find(({ type }) => type === 'page')!.webSocketDebuggerUrl);
  await once(socket, 'open');
  const page = new Page(socket);
  for (const question of QUESTIONS.slice(0, ASKED)) await ask(page, site, question);
  if (missing.length > 0) throw new Error(`the site lacks: ${[...new Set(missing)].join(', ')}`);
} finally {
  browser.removeAllListeners('exit');
  const ended = once(browser, 'exit');
  if (browser.exitCode === null && browser.kill()) await ended;
  server.closeAllConnections();
  server.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

interface Tab {
  readonly type: string;
  readonly webSocketDebuggerUrl: string;
}
