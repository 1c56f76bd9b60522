import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { LanguageServer } from '../settings/language-server.testkit.ts';
import { until } from '../support/gateway.ts';

const main = packageFile('src/cli/main.ts');
let top: string;
let dir: string;
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'gatehouse-first-day-'));
  dir = join(top, 'configs');
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

function gatehouse(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd: top }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });
}

/** A running `gatehouse serve` and all it has said. */
class Serving {
  readonly #process: ChildProcess;
  said = '';

  constructor() {
    this.#process = spawn(process.execPath, [main, 'serve'], { cwd: top, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#process.stdout!, this.#process.stderr!])
      stream.on('data', (piece: Buffer) => (this.said += piece.toString()));
  }

  /** The line to paste, once it is there. */
  async curl(): Promise<string> {
    await until(() => /^ {2}curl .*\n/m.test(this.said), 'the gateway said a curl line');
    return /^ {2}curl .*$/m.exec(this.said)![0].trim();
  }

  async reloads(count: number): Promise<void> {
    const done = () => this.said.split('settings reloaded').length - 1 >= count;
    await until(done, `the gateway had read its settings ${count} times anew; it said:\n${this.said}`);
  }

  async stop(): Promise<number | null> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const [code] = await gone;
    return code;
  }
}

interface Call {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** The words of a curl line as a shell splits them: plain, or in single quotes. */
function readCurl(line: string): Call {
  const words = [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const after = (flag: string) => words.flatMap((word, index) => (word === flag ? [words[index + 1]!] : []));
  const headers = after('-H').map((header) => header.split(/: (.*)/).slice(0, 2) as [string, string]);
  return { url: words[1]!, headers: Object.fromEntries(headers), body: after('-d')[0]! };
}

const call = ({ url, headers, body }: Call, key?: string): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { ...headers, ...(key !== undefined && { 'x-gateway-api-key': key }) } });

const keyIn = (text: string): string => /^ {2}(gatehouse_\S+)$/m.exec(text)![1]!;

describe('the first day with Gatehouse', () => {
  let firstKey: string;

  it('begins with a folder that `init` makes and `validate` finds sound', async () => {
    const made = await gatehouse('init');
    expect([made.code, made.err]).toEqual([0, '']);
    firstKey = keyIn(made.out);
    expect(await gatehouse('validate')).toEqual({
      code: 0,
      out: 'configs: valid (1 provider, 2 keys, 1 gateway config)\n',
      err: '',
    });
    expect((await gatehouse('init')).code).toBe(1);
  });

  it('has an editor that agrees, by the first line of every file', async () => {
    const server = new LanguageServer();
    await server.start();
    try {
      const names = globSync('**/*.yaml', { cwd: dir });
      expect(names.length).toBe(5);
      for (const name of names) {
        const text = readFileSync(join(dir, name), 'utf8');
        expect([name, await server.check(join(dir, name), text)]).toEqual([name, []]);
        const lines = text.trimEnd().split('\n').length;
        expect([name, await server.check(join(dir, name), `${text.trimEnd()}\nstratgey: 1\n`)]).toEqual([
          name,
          [`${lines + 1}: Property stratgey is not allowed.`],
        ]);
      }
    } finally {
      await server.stop();
    }
  });

  it('goes on with a curl line that works, and keys that come and go while the gateway runs', async () => {
    const file = join(dir, 'server.yaml');
    const server = readFileSync(file, 'utf8').replaceAll(/^( *port:) \d+$/gm, '$1 0');
    writeFileSync(file, `${server}drain: { delay: 0s }\n`);
    const serving = new Serving();
    try {
      const line = readCurl(await serving.curl());
      const reply = await call(line);
      expect([reply.status, await reply.json()]).toMatchObject([200, { choices: [{ finish_reason: 'stop' }] }]);
      expect((await call(line, firstKey)).status).toBe(200);

      const created = await gatehouse('keys', 'create', '--id', 'team', '--provider', '@simulator', '--write');
      expect([created.code, created.err]).toEqual([0, '']);
      const key = keyIn(created.out);
      await serving.reloads(1);
      expect((await call(line, key)).status).toBe(200);

      const listed = await gatehouse('keys', 'list', '--format', 'json');
      expect(JSON.parse(listed.out).map(({ id }: { id: string }) => id)).toEqual(['demo', 'first', 'team']);
      expect(listed.out).not.toContain(key);

      expect((await gatehouse('keys', 'revoke', '--id', 'team')).code).toBe(0);
      await serving.reloads(2);
      expect((await call(line, key)).status).toBe(401);
      expect((await call(line, firstKey)).status).toBe(200);
    } finally {
      expect(await serving.stop()).toBe(0);
    }
  });
});
