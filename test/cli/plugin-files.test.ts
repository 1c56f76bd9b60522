import { spawn, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/gateway.ts';
import { MAIN } from '../support/built.ts';

/** Node's own loader, which the test runner replaces in this process. */
function write(plugin: string | object) {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-plugin-files-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, 'configs/gateway'), { recursive: true });
  mkdirSync(join(dir, 'plugins'));
  const file = (name: string, text: string): void => writeFileSync(join(dir, name), text);
  const server = (plugins: unknown): void =>
    file(
      'configs/server.yaml',
      JSON.stringify({
        listen: { host: '127.0.0.1', port: 0 },
        status: { host: '127.0.0.1', port: 0 },
        admin: { port: 0 },
        reload: { debounce: '50ms' },
        plugins: [plugins],
        chains: { entry: ['telemetry', 'errors', 'version', 'auth', 'models', 'body', 'responses', 'config'] },
      }),
    );
  file('configs/catalog.yaml', JSON.stringify({ providers: [{ slug: 'a', provider: 'simulator' }] }));
  file('configs/keys.yaml', JSON.stringify({ keys: [] }));
  file('plugins/version.mjs', MODULE);
  file('plugins/lib.mjs', `export { text } from './text.mjs';`);
  file('plugins/text.mjs', `export const text = 'one';`);
  server(plugin);
  return { dir, file, server };
}

const MODULE = `import { definePlugin } from 'gatehouse-gateway/plugin';
import { text } from './lib.mjs';
export default definePlugin({
  name: 'version', level: 'entry', options: { type: 'object', additionalProperties: false, properties: {} },
  create: () => async (ctx, next) => { ctx.set('x-text', text); await next(); },
});`;

const hashOf = (dir: string): string =>
  execFileSync(process.execPath, [MAIN, 'plugin', 'hash', join(dir, 'plugins/version.mjs')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .toString()
    .trim();

async function serve(dir: string) {
  const gateway = spawn(process.execPath, [MAIN, 'serve', '--configs', join(dir, 'configs')]);
  let said = '';
  for (const stream of [gateway.stdout, gateway.stderr])
    stream.on('data', (piece: Buffer) => (said += piece.toString()));
  onTestFinished(async () => {
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    if (gateway.exitCode === null && gateway.kill('SIGKILL')) await ended;
  });
  const address = (): string | undefined => /listens on (http:\/\/[\d.:]+);/.exec(said)?.[1];
  // No bound in time: a process starts late on a busy machine.
  while (address() === undefined && gateway.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    said: () => said,
    text: async () => (await fetch(`${address()!}/v1/models`)).headers.get('x-text'),
  };
}

describe('a plugin outside the settings folder', () => {
  it('is loaded again when a file changes that it imports through another one', async () => {
    const { dir, file } = write('../plugins/version.mjs');
    const { text } = await serve(dir);
    expect(await text()).toBe('one');
    file('plugins/text.mjs', `export const text = 'two';`);
    await until(async () => (await text()) === 'two', 'the change serves');
    file('plugins/text.mjs', `export const text = ;`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await text()).toBe('two');
    file('plugins/text.mjs', `export const text = 'three';`);
    await until(async () => (await text()) === 'three', 'the repair serves');
  });

  it('serves with the hash of its files, and refuses another one of any', async () => {
    const { dir, file, server } = write('../plugins/version.mjs');
    const integrity = hashOf(dir);
    expect(integrity).toMatch(/^sha256-[A-Za-z0-9+/]{43}=$/);
    server({ module: '../plugins/version.mjs', integrity });
    const { text, said } = await serve(dir);
    expect(await text()).toBe('one');
    file('plugins/text.mjs', `export const text = 'another';`);
    await until(() => said().includes('its integrity is sha256-'), 'the change is refused');
    expect(await text()).toBe('one');
    expect(hashOf(dir)).not.toBe(integrity);
  });

  it.each(['plugins', 'linked'])('imports no file by a path that its hash does not cover (%s)', async (folder) => {
    const { dir, file, server } = write('../plugins/version.mjs');
    symlinkSync('plugins', join(dir, 'linked'));
    file('plugins/lib.mjs', `const name = './text.mjs'; export const { text } = await import(name);`);
    server({ module: `../${folder}/version.mjs`, integrity: hashOf(dir) });
    const { said } = await serve(dir);
    expect(said()).toContain('which its integrity does not cover');
  });

  it('loads no byte that its hash does not cover: a file that has changed since is refused', async () => {
    const { dir, file, server } = write('../plugins/version.mjs');
    file(
      'plugins/lib.mjs',
      `import { writeFileSync } from 'node:fs';
writeFileSync(new URL('./text.mjs', import.meta.url), "export const text = 'another';");
export const { text } = await import('./text.mjs');`,
    );
    server({ module: '../plugins/version.mjs', integrity: hashOf(dir) });
    const { said } = await serve(dir);
    expect(said()).toContain('text.mjs has changed since its integrity was checked');
  });
});
