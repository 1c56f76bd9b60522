import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { MAIN } from '../support/built.ts';
import { KEY, until, writeSettings } from '../support/gateway.ts';
import { openaiChunk, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
/** A message that is answered whole. */
export const AT_ONCE = 'answer at once';
const END = `${event(openaiChunk({ content: ' and ended' }))}${event(openaiChunk({}, 'stop'))}data: [DONE]\n\n`;

/** Says one word of each stream and the rest when it is let; a stream that asks for it, at once. */
export interface HeldUpstream extends ScriptedUpstream {
  /** From now on every stream ends, those that wait too. */
  letGo(): void;
}

export async function startHeldUpstream(): Promise<HeldUpstream> {
  const held = new Set<ServerResponse>();
  let open = false;
  const upstream = await startUpstream((seen, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(event(openaiChunk({ role: 'assistant', content: 'begun' })));
    if (open || seen.text.includes(AT_ONCE)) return void res.end(END);
    held.add(res);
  });
  return {
    ...upstream,
    letGo() {
      open = true;
      for (const res of held) res.end(END);
      held.clear();
    },
  };
}

/** A line of the log, parsed. */
type Line = Record<string, unknown>;

export interface FleetSettings {
  readonly upstream: string;
  readonly server?: object;
  readonly gateway?: Readonly<Record<string, object>>;
  /** Prompts by id. */
  readonly prompts?: Readonly<Record<string, object>>;
  /** `none`: one process serves. Default: 2. */
  readonly workers?: string;
  /** In place of the `gatehouse` command. */
  readonly main?: string;
  /** Beside the settings, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** `gatehouse serve --workers N` as a process of its own. */
export class Fleet {
  readonly dir: string;
  readonly exited: Promise<number | null>;
  readonly #process: ChildProcess;
  #said = '';

  constructor(settings: FleetSettings) {
    const loopback = { host: '127.0.0.1', port: 0 };
    const { upstream, server, gateway = {}, prompts, files = {}, workers = '2', main = MAIN } = settings;
    this.dir = writeSettings({
      server: { listen: loopback, status: loopback, admin: { port: 0 }, drain: { delay: '0s' }, ...server },
      catalog: {
        providers: [{ slug: 'own', provider: 'openai', base_url: `${upstream}/v1`, allow_insecure: true }],
      },
      gateway,
      ...(prompts && { prompts }),
    });
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    const args = [main, 'serve', '--configs', this.dir];
    if (workers !== 'none') args.push('--workers', workers);
    this.#process = spawn(process.execPath, args, { cwd: packageFile('') });
    this.exited = new Promise((resolve) => this.#process.once('exit', (code) => resolve(code)));
    for (const stream of [this.#process.stdout!, this.#process.stderr!])
      stream.on('data', (piece: Buffer) => (this.#said += piece.toString()));
  }

  get said(): string {
    return this.#said;
  }

  get lines(): Line[] {
    const whole = this.#said.slice(0, this.#said.lastIndexOf('\n') + 1);
    return whole.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
  }

  /** Pids of the workers that have come to serve, the oldest first. */
  get workers(): number[] {
    return this.lines.flatMap(({ msg, pid }) => (msg === 'a worker serves' ? [Number(pid)] : []));
  }

  async listens(): Promise<{ readonly url: string; readonly statusUrl: string }> {
    const urls = /listens on (https?:\/\/[\d.:]+);[^\n]*?(http:\/\/[\d.:]+)/;
    await until(() => urls.test(this.#said) || this.#process.exitCode !== null, 'it listens');
    if (!urls.test(this.#said)) throw new Error(`it did not start: ${this.#said}`);
    const [, url, statusUrl] = urls.exec(this.#said)!;
    return { url: url!, statusUrl: statusUrl! };
  }

  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGKILL'): void {
    this.#process.kill(name);
  }

  write(name: string, value: object | string): void {
    writeFileSync(join(this.dir, name), typeof value === 'string' ? value : JSON.stringify(value));
  }

  async end(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exited;
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** One that has ended and waits for its parent to look is not. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** One stream of a client with a connection of its own. */
export interface Stream {
  text: string;
  state: 'running' | 'ended' | 'closed';
}

/** Begins a stream; what becomes of it is written into what this gives. */
export function stream(url: string, content = 'hi'): Stream {
  const seen: Stream = { text: '', state: 'running' };
  const body = JSON.stringify({ model: '@own/m', stream: true, messages: [{ role: 'user', content }] });
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY };
  const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent: false, headers });
  const closed = (): void => {
    if (seen.state === 'running') seen.state = 'closed';
  };
  sent.on('error', closed).on('response', (response) => {
    response.on('data', (piece: Buffer) => (seen.text += piece.toString()));
    response.on('end', () => (seen.state = 'ended'));
    response.on('error', closed).on('close', closed);
  });
  sent.end(body);
  return seen;
}

export const isWhole = ({ text, state }: Stream): boolean => state === 'ended' && text.endsWith('data: [DONE]\n\n');

/** Resolves once `/readyz` answers that it is not ready. */
export async function notReady(statusUrl: string): Promise<string> {
  let text = '';
  for (let status = 200; status !== 503;) {
    const response = await fetch(`${statusUrl}/readyz?verbose`);
    ({ status } = response);
    text = await response.text();
  }
  return text;
}

/** Every series of the exposition by its name and labels. */
export async function scrape(statusUrl: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text();
  return new Map(
    text.split('\n').flatMap((line) => {
      if (line === '' || line.startsWith('#')) return [];
      const space = line.lastIndexOf(' ');
      return [[line.slice(0, space), Number(line.slice(space + 1))] as const];
    }),
  );
}

const CUMULATIVE = /^[^{]*(?:_total|_bucket|_sum|_count)(?:\{|$)/;

/** Series of counters and histograms that have gone back, or away. */
export function wentBack(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string[] {
  return [...before].flatMap(([name, value]) => {
    const now = after.get(name);
    return CUMULATIVE.test(name) && !(now !== undefined && now >= value) ? [`${name}: ${value} → ${now}`] : [];
  });
}

/** Sum of the series whose name begins so. */
export const total = (metrics: ReadonlyMap<string, number>, prefix: string): number =>
  [...metrics].reduce((sum, [name, value]) => (name.startsWith(prefix) ? sum + value : sum), 0);

export interface Running {
  readonly upstream: HeldUpstream;
  readonly fleet: Fleet;
  readonly url: string;
  readonly statusUrl: string;
}

/** A fleet in front of a held upstream. What has to be ended goes into `ended`, the last first. */
export async function startFleet(
  ended: (() => unknown)[],
  options: Omit<FleetSettings, 'upstream'> = {},
): Promise<Running> {
  const upstream = await startHeldUpstream();
  ended.push(() => upstream.close());
  const fleet = new Fleet({ upstream: upstream.url, ...options });
  ended.push(() => fleet.end());
  return { upstream, fleet, ...(await fleet.listens()) };
}

export const allEnded = (streams: readonly Stream[]): Promise<void> =>
  until(() => streams.every(({ state }) => state !== 'running'), 'all streams have ended');
