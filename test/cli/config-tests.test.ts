import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until, writeSettings } from '../support/gateway.ts';
import { MAIN } from '../support/built.ts';

let dir: string;
let children: ChildProcessByStdio<null, Readable, Readable>[] = [];
beforeEach(() => {
  dir = writeSettings({
    catalog: 'providers:\n  - { slug: claude, provider: anthropic, api_key: "${env:NO_SUCH_KEY}" }\n',
    gateway: { prod: 'provider: "@claude"\noverride_params: { model: claude-sonnet-4-5, max_tokens: 512 }\n' },
  });
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

const ONE = (expected: string, name = 'asks Claude'): string => `cases:
  - name: ${name}
    request: { body: { model: any, messages: [{ role: user, content: Hi }] } }
    upstream: [{ answer: Hello }]
    expect: ${expected}
`;
const GOOD = ONE('{ target: "@claude", outbound: { url: "https://api.anthropic.com/*", body: { max_tokens: 512 } } }');
const BAD = ONE('{ outbound: { body: { max_tokens: 1024 } } }');

const writeTests = (text: string, name = 'gateway/prod.test.yaml'): void => writeFileSync(join(dir, name), text);

function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'test', dir, ...args], { env: {} }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out: out.replaceAll(dir, 'DIR'), err: err.replaceAll(dir, 'DIR') }),
    );
  });
}

describe('gatehouse test', () => {
  it('runs the tests beside the settings, with none of the secrets and without a network', async () => {
    writeTests(GOOD);
    const { code, out, err } = await run();
    expect([code, err, out]).toEqual([
      0,
      '',
      expect.stringMatching(/^DIR\/gateway\/prod\.test\.yaml\n {2}✓ asks Claude\n\n1 passed \(.+\)\n$/),
    ]);
  });

  it('fails with 1, and ends though a plugin has left a timer running', async () => {
    const plugin = `{ name: 'ticking', level: 'request', options: { type: 'object' }, create() { setInterval(() => {}, 1000); return (_, next) => next(); } }`;
    writeFileSync(
      join(dir, 'ticking.ts'),
      `import { definePlugin } from 'gatehouse/plugin';\nexport default definePlugin(${plugin});\n`,
    );
    writeFileSync(
      join(dir, 'server.yaml'),
      'plugins: [./ticking.ts]\nchains: { request: [ticking, metadata, route] }\n',
    );
    writeTests(BAD);
    const { code, out } = await run('--reporter', 'github');
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^::error file=DIR.*prod\.test\.yaml,line=5,.*max_tokens%0Aexpected 1024%0Agot 512\n/),
    ]);
  });
});

describe('gatehouse test --watch', () => {
  function watch(): { readonly said: () => string; readonly child: ChildProcessByStdio<null, Readable, Readable> } {
    const child = spawn(process.execPath, [MAIN, 'test', dir, '--watch'], {
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => (said += piece.toString().replaceAll(dir, 'DIR')));
    return { said: () => said, child };
  }
  /** How often it has come to rest. */
  const rests = (said: string): number => said.split('waiting for changes').length - 1;

  it('runs again when a config, a test or a new file of tests is saved, says what changed, and ends with 0 on Ctrl-C', async () => {
    writeTests(GOOD);
    const { said, child } = watch();
    const nextRest = async (change: () => void): Promise<string> => {
      const before = said();
      change();
      await until(() => rests(said()) > rests(before), 'it has run again');
      return said().slice(before.length);
    };
    expect(await nextRest(() => {})).toContain('1 passed');
    const changed = await nextRest(() =>
      writeFileSync(join(dir, 'gateway/prod.yaml'), 'provider: "@claude"\noverride_params: { max_tokens: 1024 }\n'),
    );
    expect(changed).toMatch(/^\nchanged: \S*gateway\/prod\.yaml\n/);
    expect(changed).toContain('outbound.body.max_tokens');
    expect(await nextRest(() => writeTests(BAD))).toMatch(/^\nchanged: \S*gateway\/prod\.test\.yaml\n[^]*1 passed/);
    const more = await nextRest(() =>
      writeTests(BAD.replace('cases', 'env: {}\ncases').replace('name:', 'config: prod\n    name:'), 'more.test.yaml'),
    );
    expect(more).toMatch(/^\nchanged: \S*more\.test\.yaml\n[^]*2 passed/);
    // Mistakes are waited out like failures.
    expect(await nextRest(() => writeFileSync(join(dir, 'keys.yaml'), 'kyes: []\n'))).toContain('did you mean "keys"?');
    expect(await nextRest(() => unlinkSync(join(dir, 'more.test.yaml')))).toMatch(/^\nchanged: \S*more\.test\.yaml\n/);
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it('waits for the first test where there is none', async () => {
    const { said } = watch();
    await until(() => rests(said()) === 1, 'it waits');
    expect(said()).toContain('there are no tests in DIR');
    writeTests(GOOD);
    await until(() => said().includes('1 passed'), 'the test has run');
  });
});
