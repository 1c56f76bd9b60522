import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { writeSettings } from '../support/gateway.ts';
import { MAIN } from '../support/built.ts';

/** Stops without giving load balancers time to notice. */
const AT_ONCE = { drain: { delay: '0s' } };

let dir: string | undefined;
afterEach(() => {
  if (dir) rmSync(dir, { recursive: true, force: true });
  dir = undefined;
});

function gatehouse(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { cwd: packageFile('') }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });
}

describe('gatehouse', () => {
  it('tells how it is used when it is called wrongly, with exit code 2', async () => {
    for (const args of [
      ['servee'],
      ['validate', '--format', 'xml'],
      ['validate', '--config', 'x'],
      ['keys'],
      ['keys', 'create'],
      ['simulator', '--port', 'x'],
    ]) {
      const { code, err } = await gatehouse(...args);
      expect([args, code, err.includes('Usage: gatehouse')]).toEqual([args, 2, true]);
    }
    const { out: help } = await gatehouse('--help');
    expect(help).toContain('Usage: gatehouse');
    expect(help.split('\n').filter((line) => line.length > 120)).toEqual([]);
    const one = await gatehouse('keys', 'list', '--configs', 'x', '--help');
    expect([one.code, one.out.match(/^ {2}\S.*$/gm)]).toEqual([0, [expect.stringMatching(/^ {2}keys list /)]]);
    expect((await gatehouse('version')).out.trim()).toBe(
      JSON.parse(readFileSync(packageFile('package.json'), 'utf8')).version,
    );
  });

  it('ends normally when its reader closes the pipe early', async () => {
    const child = spawn(process.execPath, [MAIN, 'schema', 'gateway'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let err = '';
    child.stderr.on('data', (piece: Buffer) => (err += piece.toString()));
    expect([await new Promise((resolve) => child.once('close', resolve)), err]).toEqual([0, '']);
  });

  it('validate checks all there is, plugins and their order included', async () => {
    dir = writeSettings({ server: 'chains:\n  request: [rout]\n  attempt: [send, transform]\n' });
    const { code, out } = await gatehouse('validate', '--configs', dir);
    expect(code).toBe(1);
    expect(out).toContain(`${dir}/server.yaml:2:13: unknown plugin "rout"; did you mean "route"?`);
    expect(out).toContain(
      `${dir}/server.yaml:3:13: plugin "send" needs "outbound" from a plugin earlier in the chain; put "transform" before it`,
    );
    const github = await gatehouse('validate', '--configs', dir, '--format', 'github');
    expect(github.out).toContain(`::error file=${dir}/server.yaml,line=2,col=13::`);
    expect((await gatehouse('validate')).code).toBe(0);
    expect((await gatehouse('validate', '--configs', join(dir, 'nowhere'))).code).toBe(2);
  });

  it('validate ends although a plugin has left a timer, and names the plugin', async () => {
    dir = writeSettings({ server: 'plugins: [./slow.mjs]\nchains: { request: [slow, route] }\n' });
    const module = `import { definePlugin } from 'gatehouse/plugin';
setInterval(() => {}, 1000);
export default definePlugin({
  name: 'slow', level: 'request', options: { type: 'object', additionalProperties: false, properties: {} },
  create: () => (ctx, next) => next(),
});`;
    writeFileSync(join(dir, 'slow.mjs'), module);
    const { code, out } = await gatehouse('validate', '--configs', dir);
    expect([code, out]).toEqual([0, expect.stringContaining('server.yaml:1:1: warning: the plugin "slow" leaves')]);
  });

  it('serve does not start with mistakes, and says them all', async () => {
    dir = writeSettings({
      keys: 'keys: [{ id: a, kee: x }]\n',
      catalog: 'providers: [{ slug: a, provider: simulater }]\n',
    });
    const { code, err } = await gatehouse('serve', '--configs', dir);
    expect(code).toBe(1);
    expect(err).toMatch(/catalog\.yaml:1:34: .*did you mean "simulator"/);
    expect(err).toMatch(/keys\.yaml:1:17: unknown key `kee`/);
    expect(err).toContain('not started');
  });

  it('serve names a missing variable at its place', async () => {
    dir = writeSettings({
      catalog: 'providers:\n  - slug: a\n    provider: anthropic\n    api_key: ${env:NOT_SET_ANYWHERE}\n',
    });
    const { code, err } = await gatehouse('serve', '--configs', dir);
    expect([code, err]).toEqual([1, expect.stringMatching(/catalog\.yaml:4:14: .*NOT_SET_ANYWHERE/)]);
  });

  it('serve says that a port is taken, with exit code 3', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    dir = writeSettings({
      server: `listen: { host: 127.0.0.1, port: ${port} }\nstatus: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }\n`,
    });
    const { code, err } = await gatehouse('serve', '--configs', dir);
    server.close();
    expect([code, err]).toEqual([3, expect.stringMatching(/another process uses it.*server\.yaml/)]);
  });

  it('serve says that an address cannot be listened on, with exit code 3 and no stack', async () => {
    dir = writeSettings({
      server:
        'listen: { host: no-such-host.invalid, port: 0 }\nstatus: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }\n',
    });
    const { code, err } = await gatehouse('serve', '--configs', dir);
    expect(code).toBe(3);
    expect(err).toMatch(
      /^gatehouse: cannot listen on no-such-host\.invalid, port 0 \(.+\); change listen.*server\.yaml\n$/,
    );
  });

  it.each([
    [
      'names GATEHOUSE_HOST where its address cannot be listened on',
      'no-such-host.invalid',
      '127.0.0.1',
      'change GATEHOUSE_HOST, or listen',
    ],
    ['does not name GATEHOUSE_HOST for a host of the file', '127.0.0.1', 'no-such-host.invalid', 'change listen'],
  ])('serve %s', (_, host, adminHost, advice) => {
    const admin = { host: adminHost, port: 0, token: 'a-token-of-admins' };
    dir = writeSettings({ server: { listen: { port: 0 }, status: { port: 0 }, admin } });
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'serve', '--configs', dir], {
      env: { ...process.env, GATEHOUSE_HOST: host },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([3, expect.stringContaining(`; ${advice}`)]);
  });

  it('keys create refuses an id that is taken', async () => {
    dir = writeSettings({});
    expect(await gatehouse('keys', 'create', '--id', 'test', '--configs', dir)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('already'),
    });
    expect(await gatehouse('keys', 'create', '--id', 'fresh', '--configs', dir)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/gatehouse_[\w-]+[\s\S]*digest: sha256:[0-9a-f]{64}/),
    });
  });

  it('serve starts with warnings and tells them', async () => {
    dir = writeSettings({
      server: AT_ONCE,
      keys: `keys: [{ id: old, digest: "sha256:${'0'.repeat(64)}", expires_at: 2020-01-01T00:00:00Z }]\n`,
    });
    const child = spawn(process.execPath, [MAIN, 'serve', '--configs', dir], { cwd: packageFile('') });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let err = '';
    child.stderr.on('data', (piece: Buffer) => (err += piece.toString()));
    let out = '';
    child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
    while (!err.includes('Try it')) await new Promise((resolve) => child.stderr.once('data', resolve));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(err).toMatch(
      /^[^\n]*keys\.yaml:1:114: warning: the key `old` has expired\n(?:Console: http\S+\/ui\/\n)?Gatehouse listens on /,
    );
    const lines = out.split('\n').filter((line) => line !== '');
    expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
  });

  it('serve names the console first, whose page a checkout has built by the time that it opens', async () => {
    dir = writeSettings({ server: { ...AT_ONCE, admin: { port: 0 } } });
    const child = spawn(process.execPath, [MAIN, 'serve', '--configs', dir], { cwd: packageFile('') });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let err = '';
    child.stderr.on('data', (piece: Buffer) => (err += piece.toString()));
    child.stdout.resume();
    while (!err.includes('Try it')) await new Promise((resolve) => child.stderr.once('data', resolve));
    const [, url] = /^Console: (http:\/\/127\.0\.0\.1:\d+\/ui\/)\n/.exec(err)!;
    const page = await (await fetch(url!)).text();
    expect(page).toMatch(/<script[^>]* src="\.?\/?main-[\w-]{8}\.js"/);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('serve lets a running stream end after SIGTERM and then stops', async () => {
    dir = writeSettings({ server: AT_ONCE });
    writeFileSync(join(dir, 'catalog.yaml'), 'providers: [{ slug: sim, provider: simulator }]\n');
    const child = spawn(process.execPath, [MAIN, 'serve', '--configs', dir], {
      cwd: packageFile(''),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const url = await new Promise<string>((resolve) => {
      let text = '';
      child.stderr.on('data', (piece: Buffer) => {
        text += piece.toString();
        const found = /listens on (http:\/\/[\d.:]+);/.exec(text);
        if (found) resolve(found[1]!);
      });
    });
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': 'gatehouse-test-key-0123456789' },
      body: JSON.stringify({
        model: '@sim/sim-drip-100',
        stream: true,
        messages: [{ role: 'user', content: 'one two three four five six' }],
      }),
    });
    child.kill('SIGTERM');
    expect(await response.text()).toContain('data: [DONE]');
    expect(await ended).toBe(0);
  });
});
