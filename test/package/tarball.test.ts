import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NEEDS_NODE, OLD_NODE } from '../support/old-node.ts';

/** What is published: packed, installed into an empty folder, started with plain `node`, the way a stranger would. */
const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-package-'));
const bin = join(folder, 'node_modules/gatehouse-gateway/dist/src/cli/main.js');
let child: ChildProcess | undefined;

const TSCONFIG = `{
  "compilerOptions": {
    "strict": true, "noEmit": true, "module": "nodenext", "target": "es2024", "skipLibCheck": true, "types": ["node"]
  },
  "include": ["*.ts"]
}`;
const PLUGIN_IN_TYPESCRIPT = `import { definePlugin, type Sink, type Source } from 'gatehouse-gateway/plugin';
import { createExchange, runPlugin } from 'gatehouse-gateway/plugin/testing';

class Same implements Source {
  readonly #inner: Source;
  constructor(inner: Source) { this.#inner = inner; }
  open(sink: Sink): void { this.#inner.open(sink); }
  pause(): void { this.#inner.pause(); }
  resume(): void { this.#inner.resume(); }
  cancel(...reason: Parameters<Source['cancel']>): void { this.#inner.cancel(...reason); }
}

const plugin = definePlugin({
  name: 'tenant-header',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['header'],
    properties: { header: { type: 'string', default: 'x-tenant', description: 'Name of the header.' } },
  },
  create: ({ options, host }) => async (ctx, next) => {
    const before: string = ctx.get('x-before');
    await next();
    const { reply, caller } = ctx.exchange;
    host.log.info({ before, status: ctx.status }, 'seen');
    if (!reply) return;
    reply.headers[options.header] = caller?.keyId ?? '';
    if (!Buffer.isBuffer(reply.body)) reply.body = new Same(reply.body);
  },
});
export default plugin;
export const run = () => runPlugin(plugin, { exchange: createExchange() });
`;

beforeAll(async () => {
  await run('npm', ['pack', '--pack-destination', folder], { cwd: root });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await run('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`], {
    cwd: folder,
  });
}, 240_000);
afterAll(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** As in the middle of an upgrade in place. */
async function withoutSchemas<T>(work: () => Promise<T>): Promise<T> {
  const schemas = join(folder, 'node_modules/gatehouse-gateway/schemas');
  renameSync(schemas, `${schemas}.gone`);
  return work().finally(() => renameSync(`${schemas}.gone`, schemas));
}

/** Serves the settings of `configs/`, and resolves with the curl line that the gateway prints. */
async function serve(args: readonly string[]): Promise<{ readonly started: ChildProcess; readonly line: string }> {
  const started = spawn(process.execPath, [bin, 'serve', ...args], { cwd: folder });
  child = started;
  let text = '';
  const line = await new Promise<string>((resolve, reject) => {
    started.once('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
    // Standard output is no terminal: the curl line is on standard error.
    started.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
    started.stderr.on('data', (piece: Buffer) => {
      text += piece.toString();
      const curl = /^ +(curl .*)$/m.exec(text);
      if (curl) resolve(curl[1]!);
    });
  });
  return { started, line };
}

async function stop(started: ChildProcess): Promise<unknown> {
  const ended = new Promise((resolve) => started.once('exit', resolve));
  started.kill('SIGTERM');
  return ended;
}

/** Options with a default, a class of the plugin API, and an error that only the gateway's own class of it makes a 400. */
const OUTSIDE_PLUGIN = `import { definePlugin } from 'gatehouse-gateway/plugin';
import { GatewayError } from 'gatehouse/plugin';
import { createExchange } from 'gatehouse-gateway/plugin/testing';
import * as testing from 'gatehouse/plugin/testing';
if (testing.createExchange !== createExchange) throw new Error('two copies of the plugin API');
export default definePlugin({
  name: 'guard',
  level: 'request',
  options: { type: 'object', additionalProperties: false, properties: { word: { type: 'string', default: 'forbidden' } } },
  create: ({ options }) => async (ctx, next) => {
    if (ctx.get('x-word') === options.word) throw new GatewayError('invalid_value', 'This word is refused.');
    await next();
  },
});
`;

async function askEmbeddings(port: number): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': 'gatehouse-demo-key' };
  const body = JSON.stringify({ model: '@simulator/demo', input: 'Hello' });
  return (await fetch(`http://127.0.0.1:${port}/v1/embeddings`, { method: 'POST', headers, body })).status;
}

describe('the packed tarball', () => {
  it('holds what runs and what people edit, and no sources or tests', () => {
    const inside = readdirSync(join(folder, 'node_modules/gatehouse-gateway'), { recursive: true, encoding: 'utf8' });
    expect(inside).toEqual(
      expect.arrayContaining([
        'package.json',
        'LICENSE',
        'NOTICE',
        'README.md',
        'schemas/server.json',
        'configs/server.yaml',
        'dist/src/cli/main.js',
        'dist/src/plugin/index.d.ts',
        'plugins/README.md',
        'plugins/route/README.md',
        'docs/plugins/api.md',
      ]),
    );
    expect(
      inside.filter((path) => /\.test\.ts|testkit|^(?:src|plugins).*(?<!\.d)\.ts$|^test|^node_modules/.test(path)),
    ).toEqual([]);
  });

  it.runIf(OLD_NODE)('says in one line which Node it needs', () => {
    const { status, stdout, stderr } = spawnSync(OLD_NODE!, [bin, 'version'], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(NEEDS_NODE);
  });

  it('checks its own sample settings', async () => {
    const { stdout } = await run(process.execPath, [
      bin,
      'validate',
      '--configs',
      join(folder, 'node_modules/gatehouse-gateway/configs'),
    ]);
    expect(stdout).toContain('valid');
  });

  it('starts with plain node, answers the curl line it prints, and needs its files no more', async () => {
    cpSync(join(folder, 'node_modules/gatehouse-gateway/configs'), join(folder, 'configs'), { recursive: true });
    const [port, status] = [await freePort(), await freePort()];
    writeFileSync(
      join(folder, 'configs/server.yaml'),
      `listen: { host: 127.0.0.1, port: ${port} }\nstatus: { host: 127.0.0.1, port: ${status} }\nadmin: { port: 0 }\ndrain: { delay: 0s }\n`,
    );
    const { started, line } = await serve([]);
    const { stdout } = await run('bash', ['-c', `${line.replace('curl', 'curl -sS')}`]);
    expect(JSON.parse(stdout)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant' } }],
    });
    expect(await (await fetch(`http://127.0.0.1:${status}/readyz`)).text()).toContain('ok');
    expect(await withoutSchemas(() => askEmbeddings(port))).toBe(200);
    expect(await stop(started)).toBe(0);
  });

  it('loads on demand: workers, an outside plugin with its options, patterns, variables of prompts, explanations', async () => {
    const settings = join(folder, 'more');
    mkdirSync(join(settings, 'gateway'), { recursive: true });
    mkdirSync(join(settings, 'prompts'));
    const [port, status, admin] = [await freePort(), await freePort(), await freePort()];
    const files = {
      'guard.mjs': OUTSIDE_PLUGIN,
      'catalog.yaml': 'providers:\n  - { slug: simulator, provider: simulator }\n',
      'keys.yaml':
        'keys:\n  - { id: demo, key: "${env:TEST_KEY:-gatehouse-test-key-0123456789}", default_config: choose }\n',
      'server.yaml': `listen: { host: 127.0.0.1, port: ${port} }
status: { host: 127.0.0.1, port: ${status} }
admin: { host: 127.0.0.1, port: ${admin} }
drain: { delay: 0s }
plugins: [./guard.mjs]
chains: { request: [guard, prompts, metadata, route] }
`,
      'gateway/choose.yaml': `strategy:
  mode: conditional
  conditions: [{ query: { metadata.team: { $regex: "^red" } }, then: red }]
  default: other
targets:
  - { name: red, provider: "@simulator", override_params: { model: sim-error-429 } }
  - { name: other, provider: "@simulator", override_params: { model: demo } }
`,
      'prompts/hello.yaml': `versions:
  1:
    model: "@simulator/demo"
    variables: { name: { schema: { type: string, pattern: "^[a-z]+$", maxLength: 20 } } }
    messages: [{ role: user, content: "Hello {{name}}" }]
`,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(settings, name), text);
    const { started } = await serve(['--configs', settings, '--workers', '2']);
    const post = async (url: string, body: object, headers: Record<string, string> = {}) => {
      const own = { 'content-type': 'application/json', 'x-gateway-api-key': 'gatehouse-test-key-0123456789' };
      const reply = await fetch(url, { method: 'POST', headers: { ...own, ...headers }, body: JSON.stringify(body) });
      return [reply.status, await reply.json()] as const;
    };
    const chat = `http://127.0.0.1:${port}/v1/chat/completions`;
    const body = { model: 'any', messages: [{ role: 'user', content: 'Hello' }] };
    expect(await post(chat, body)).toMatchObject([200, { object: 'chat.completion' }]);
    expect(await post(chat, body, { 'x-word': 'forbidden' })).toMatchObject([
      400,
      { error: { code: 'invalid_value' } },
    ]);
    expect(await post(chat, body, { 'x-gateway-metadata': '{"team":"red-1"}' })).toMatchObject([429, {}]);
    const prompt = (name: string) =>
      post(`http://127.0.0.1:${port}/v1/prompts/hello/completions`, { variables: { name } });
    expect(await prompt('ada')).toMatchObject([200, { object: 'chat.completion' }]);
    expect(await prompt('ADA')).toMatchObject([400, { error: { param: 'variables.name' } }]);
    expect(await post(`http://127.0.0.1:${admin}/admin/v1/explain`, { key: 'demo', body })).toMatchObject([
      200,
      { config: { id: 'choose' } },
    ]);
    expect(await stop(started)).toBe(0);
  }, 60_000);

  it('has the READMEs for plugin authors, and what they link to', () => {
    const inside = join(folder, 'node_modules/gatehouse-gateway');
    const readmes = readdirSync(inside, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /^(?:plugins\/(?:.*\/)?README|docs\/plugins\/api)\.md$/.test(path),
    );
    const plugins = readdirSync('plugins', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    // One of each plugin, that of the folder, and the page of the API.
    expect(readmes.length).toBe(plugins.length + 2);
    const broken = readmes.flatMap((readme) =>
      [...readFileSync(join(inside, readme), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link]) => link!.split('#')[0]!)
        .filter((link) => link !== '' && !link.includes('://') && !existsSync(join(inside, dirname(readme), link)))
        .map((link) => `${readme}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('has the types that a plugin in TypeScript needs, without any package beside it', async () => {
    const author = join(folder, 'author');
    mkdirSync(author);
    writeFileSync(join(author, 'tsconfig.json'), TSCONFIG);
    writeFileSync(join(author, 'plugin.ts'), PLUGIN_IN_TYPESCRIPT);
    // The compiler is the author's own.
    await run(join(root, 'node_modules/.bin/tsc'), ['-p', author], { cwd: author }).catch(
      ({ stdout }: { readonly stdout: string }) => expect.fail(stdout),
    );
    writeFileSync(join(author, 'wrong.ts'), PLUGIN_IN_TYPESCRIPT.replace('options.header]', 'options.haeder]'));
    await expect(run(join(root, 'node_modules/.bin/tsc'), ['-p', author], { cwd: author })).rejects.toThrow();
  }, 180_000);

  it('has no code of packages, which npm installs beside it, each with its licence', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    const needed = ['@koa/router', 'koa', 'lru-cache', 'p-retry', 'pino', 'prom-client', 'undici', 'ws', 'yaml'];
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(needed));
    const read = (name: string): string => readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
    const licences = Object.keys(dependencies).map((name) => (JSON.parse(read(name)) as { license: string }).license);
    expect(new Set(licences)).toEqual(new Set(['Apache-2.0', 'BlueOak-1.0.0', 'ISC', 'MIT']));
  });

  it('reports mistakes in the settings as the sources do', async () => {
    const settings = join(folder, 'broken');
    cpSync(join(folder, 'node_modules/gatehouse-gateway/configs'), settings, { recursive: true });
    writeFileSync(
      join(settings, 'server.yaml'),
      'listen: { port: many }\nlimts: { body: 1MiB }\ntimeouts: { connect: soon }\n' +
        'chains:\n  entry: [telemetry, errors, { plugin: auth, options: { max: 1 } }, models, { plugin: body, options: 3 }, config]\n',
    );
    writeFileSync(join(settings, 'keys.yaml'), 'keys:\n  - { id: 1, keys: [] }\n  - { id: two, expires: never }\n');
    writeFileSync(
      join(settings, 'gateway/odd.yaml'),
      'strategy: { mode: fallbck }\ntargets: [{ provder: "@x", weight: -1 }]\n',
    );
    const told = (main: string) => {
      const args = [main, 'validate', '--format', 'json', '--configs', settings];
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      return { status, stdout };
    };
    expect(told(bin)).toEqual(told(join(root, 'src/cli/main.ts')));
    expect(told(bin).stdout.match(/"message"/g)?.length).toBeGreaterThan(8);
  });

  it('gives plugin authors the public API by name', async () => {
    writeFileSync(
      join(folder, 'plugin.mjs'),
      "import { definePlugin, GatewayError } from 'gatehouse-gateway/plugin';\nconsole.log(typeof definePlugin, typeof GatewayError);\n",
    );
    expect((await run(process.execPath, ['plugin.mjs'], { cwd: folder })).stdout.trim()).toBe('function function');
  });
});
