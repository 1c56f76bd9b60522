import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { NEEDS_NODE, OLD_NODE } from '../support/old-node.ts';
import { buildImage, setWritable, type Image } from './dockerfile.ts';
import { packCopy } from './pack.ts';

/** The steps of the Dockerfile in an empty folder, as a user without rights, and the image they make, with files that it cannot write. */
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-image-'));
const bin = join(folder, 'bin');
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: 1000, gid: 1000 } : undefined;
const KEY = 'gatehouse-image-key-0123456789';
let image: Image;
let running: ChildProcess | undefined;

beforeAll(() => {
  const [context, stages, home] = [join(folder, 'context'), join(folder, 'stages'), join(folder, 'home')];
  for (const path of [bin, context, stages, home]) mkdirSync(path);
  chmodSync(folder, 0o755);
  if (user) chownSync(home, user.uid, user.gid);
  // The home of the tests' user may be closed to others.
  copyFileSync(process.execPath, join(bin, 'node'));
  packCopy(join(folder, 'copy'), context);
  const env = { ...network(), PATH: `${bin}:/usr/bin:/bin`, HOME: isRoot ? home : (process.env['HOME'] ?? home) };
  image = buildImage(readFileSync(packageFile('Dockerfile'), 'utf8'), { context, stages, env, user });
  cpSync(packageFile('deploy/settings'), join(image.root, 'etc/gatehouse'), { recursive: true });
}, 240_000);

afterAll(() => {
  running?.kill('SIGKILL');
  if (image) setWritable(image.root, true);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** How this machine reaches the registry: its variables, and settings of npm that the user of the image does not have. */
function network(): Readonly<Record<string, string>> {
  const listed = execFileSync('npm', ['config', 'list', '--json'], { encoding: 'utf8' });
  const settings = JSON.parse(listed) as Readonly<Record<string, unknown>>;
  const ofNpm = ['cafile', 'registry', 'proxy', 'https-proxy'].flatMap((name) => {
    const value = settings[name];
    return typeof value === 'string' ? [[`npm_config_${name.replaceAll('-', '_')}`, value] as const] : [];
  });
  const variables = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && /^(?:https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name)
      ? [[name, value] as const]
      : [],
  );
  return Object.fromEntries([...variables, ...ofNpm]);
}

/** As a container starts: the image's variables, no home, no folder for temporary files. */
const inside = () => ({
  cwd: join(image.root, 'opt/gatehouse'),
  env: { ...image.env, PATH: `${bin}:/usr/bin:/bin`, GATEHOUSE_KEY: KEY, TMPDIR: '/nowhere', HOME: '/nowhere' },
  ...user,
});

function runInside(words: readonly string[]): { readonly status: number | null; readonly text: string } {
  const [command = '', ...args] = words.map(image.here);
  const { status, stdout, stderr } = spawnSync(command, args, { ...inside(), encoding: 'utf8', timeout: 20_000 });
  return { status, text: stdout + stderr };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('the image', () => {
  it('has a user without rights, open listeners and a health check', () => {
    expect(image.user).toBe('1000:1000');
    expect(image.env['GATEHOUSE_HOST']).toBe('0.0.0.0');
    expect(image.stopSignal).toBe('SIGTERM');
    expect(image.healthCheck).toContain('ready');
  });

  it('has the driver of a state store in PostgreSQL', () => {
    const [node = ''] = image.entrypoint;
    const script = "import('pg').then(({ default: pg }) => console.log(typeof pg.Pool))";
    expect(runInside([node, '-e', script])).toEqual({ status: 0, text: 'function\n' });
  });

  it('serves on files that it cannot write, answers, explains a failure, and ends when it is stopped', async () => {
    const [port, status] = [await freePort(), await freePort()];
    const server = join(image.root, 'etc/gatehouse/server.yaml');
    const text = readFileSync(server, 'utf8')
      .replace('port: 8787', `port: ${port}`)
      .replace('port: 9464', `port: ${status}`);
    writeFileSync(server, `${text.replace('delay: 5s', 'delay: 0s')}admin: { port: 0 }\n`);
    writeFileSync(
      join(image.root, 'etc/request.json'),
      '{"model":"@simulator/sim-error-429","messages":[{"role":"user","content":"Hello"}]}',
    );
    setWritable(image.root, false);

    expect(runInside(image.healthCheck)).toMatchObject({ status: 1, text: expect.stringContaining('not ready') });
    const [command = '', ...args] = [...image.entrypoint, ...image.command].map(image.here);
    const child = spawn(command, args, { ...inside(), stdio: ['ignore', 'pipe', 'pipe'] });
    running = child;
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (said += piece.toString()));
    await until(() => said.includes('listens on') || child.exitCode !== null);
    expect(said).toContain(`listens on http://0.0.0.0:${port}`);
    expect(runInside(image.healthCheck)).toEqual({ status: 0, text: 'ready\n' });

    const ask = async (model: string) => {
      const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      });
      return [reply.status, await reply.json()] as const;
    };
    expect(await ask('@simulator/demo')).toMatchObject([200, { object: 'chat.completion' }]);
    expect(await ask('@simulator/sim-error-429')).toMatchObject([429, { error: {} }]);
    expect(await ask('@elsewhere/demo')).toMatchObject([
      400,
      { error: { message: expect.stringContaining('elsewhere') } },
    ]);
    const flags = ['--configs', '/etc/gatehouse', '--key', 'application', '--request', '/etc/request.json'];
    const explained = runInside([...image.entrypoint, 'explain', ...flags]);
    expect(explained).toMatchObject({ status: 0, text: expect.stringContaining('@simulator') });

    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(image.stopSignal as NodeJS.Signals);
    expect(await ended).toBe(0);
  }, 60_000);

  it.runIf(isRoot)('cannot write a file, so that the test above shows something', () => {
    const { status, text } = runInside(['sh', '-c', 'touch node_modules/new || touch package.json']);
    expect([status, text]).toEqual([1, expect.stringMatching(/Permission denied/)]);
  });

  it.runIf(OLD_NODE)('says on an older Node which one it needs, in one line', () => {
    const { status, text } = runInside([OLD_NODE!, ...image.entrypoint.slice(2), 'serve']);
    expect([status, text]).toEqual([1, expect.stringMatching(NEEDS_NODE)]);
  });
});
