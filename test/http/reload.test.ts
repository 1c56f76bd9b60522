import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import type { GatewayOptions } from '../../src/core/process/gateway-options.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { watchFolder } from '../../src/core/settings/source/watch.ts';
import { KEY, until, writeSettings, type TestSettings } from '../support/gateway.ts';
import {
  anthropicReply,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';
import { MAIN } from '../support/built.ts';

/** As in test/plugins: the sources' own API, for the test runner loads modules past Node's resolution. */
const API = pathToFileURL(packageFile('src/plugin/index.ts')).href;
const LISTEN = {
  listen: { host: '127.0.0.1', port: 0 },
  status: { host: '127.0.0.1', port: 0 },
  admin: { port: 0 },
};
const OLD = 'the-old-upstream-secret';

let closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function upstreamOf(script: Script): Promise<ScriptedUpstream> {
  const upstream = await startUpstream(script);
  closers.push(() => upstream.close());
  return upstream;
}

interface Running {
  readonly gateway: Gateway;
  readonly dir: string;
  /** Writes a file of the settings: `keys.yaml`, `gateway/prod.yaml`. server.yaml keeps its listeners. */
  write(name: string, value: object | string): void;
  readonly logs: () => Record<string, unknown>[];
  chat(body?: object, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  /** The value of a metric, by its name and labels as the exposition writes them. */
  metric(name: string): Promise<string | undefined>;
}

/** A gateway on a folder the test changes. It watches only where the test says so. */
async function start(settings: TestSettings, folder?: string, options: Partial<GatewayOptions> = {}): Promise<Running> {
  const dir = folder ?? writeSettings({});
  closers.push(() => rmSync(dir, { recursive: true, force: true }));
  const write = (name: string, value: object | string): void => {
    const whole = name === 'server.yaml' && typeof value === 'object' ? { ...LISTEN, ...QUIET, ...value } : value;
    writeFileSync(join(dir, name), typeof whole === 'string' ? whole : JSON.stringify(whole));
  };
  if (!folder || settings.server) write('server.yaml', settings.server ?? {});
  if (settings.catalog) write('catalog.yaml', settings.catalog);
  if (settings.keys) write('keys.yaml', settings.keys);
  for (const [id, config] of Object.entries(settings.gateway ?? {})) write(`gateway/${id}.yaml`, config);
  const lines: string[] = [];
  const logTo = { write: (line: string) => void lines.push(line) };
  const gateway = await startGateway({ configs: dir, env: {}, logTo, ...options });
  closers.push(() => gateway.close());
  return {
    gateway,
    dir,
    write,
    logs() {
      // A look-up of records has the access lines of all ended requests written first.
      gateway.records({ limit: 0 });
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    chat: (body = {}, headers = {}, signal) =>
      fetch(`${gateway.data.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
        body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }], ...body }),
        ...(signal && { signal }),
      }),
    async metric(name) {
      const text = await (await fetch(`${gateway.status.url}/metrics`)).text();
      return text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length + 1);
    },
  };
}

const QUIET = { reload: { watch: false, debounce: '20ms' } };
const WATCHING = { reload: { watch: true, debounce: '20ms' } };

const openai = (url: string) => ({ slug: 'openai', provider: 'simulator', base_url: url, allow_insecure: true });
const catalogOf = (...providers: object[]) => ({ providers });
const seedOf = (upstream: ScriptedUpstream) => upstream.seen.at(-1)?.json['seed'];
const SUCCESSFUL = 'gatehouse_config_last_reload_successful';

describe('a reload of good settings', () => {
  it('serves the next request with them, and says what changed', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const { gateway, chat, write, logs, dir, metric } = await start({
      server: { default_config: 'prod' },
      catalog: catalogOf(openai(upstream.url)),
      gateway: { prod: { override_params: { seed: 1 } } },
    });
    await chat();
    expect(seedOf(upstream)).toBe(1);
    const { hash } = gateway.settings;
    write('gateway/prod.yaml', { override_params: { seed: 2 } });
    const result = await gateway.reload();
    expect(result).toEqual({
      outcome: 'changed',
      hash: gateway.settings.hash,
      warnings: [],
      files: [join(dir, 'gateway/prod.yaml')],
    });
    await chat();
    expect(seedOf(upstream)).toBe(2);
    expect(gateway.settings.hash).not.toBe(hash);
    expect(logs()).toContainEqual(
      expect.objectContaining({
        level: 'info',
        msg: 'settings reloaded',
        config_hash: gateway.settings.hash,
        files: [join(dir, 'gateway/prod.yaml')],
      }),
    );
    expect(await metric(`gatehouse_config_info{config_hash="${gateway.settings.hash}"}`)).toBe('1');
    expect(await metric(`gatehouse_config_info{config_hash="${hash}"}`)).toBeUndefined();
    expect(await metric('gatehouse_config_reloads_total{result="success"}')).toBe('2');
  });

  it('keeps the sockets and the tokens that the change is not about', async () => {
    const account = (upstream: ScriptedUpstream, email: string) => ({
      type: 'service_account',
      project_id: 'test-project',
      private_key: generateKeyPairSync('rsa', {
        modulusLength: 2048,
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        publicKeyEncoding: { type: 'spki', format: 'pem' },
      }).privateKey,
      client_email: email,
      token_uri: `${upstream.url}/token`,
    });
    const tokens = await upstreamOf((request, res) =>
      request.url === '/token'
        ? json(res, { access_token: `token-${calls()}`, expires_in: 3599, token_type: 'Bearer' })
        : json(res, geminiReply('hi')),
    );
    const calls = () => tokens.seen.filter(({ url }) => url === '/token').length;
    const server = { egress: { token_uris: [`${tokens.url}/token`] } };
    const vertex = (credential: object) => ({
      slug: 'vertex',
      provider: 'vertex-ai',
      region: 'us-central1',
      service_account: credential,
      base_url: tokens.url,
      allow_insecure: true,
    });
    const first = account(tokens, 'a@test-project.iam.gserviceaccount.com');
    const { gateway, chat, write } = await start({ server, catalog: catalogOf(vertex(first)) });
    const ask = async () => (await chat({ model: '@vertex/gemini-2.5-flash' })).status;
    expect(await ask()).toBe(200);
    const sockets = new Set(tokens.sockets);
    // The other entry, the chains, a key: all but the credential.
    write('catalog.yaml', catalogOf({ slug: 'sim', provider: 'simulator' }, vertex(first)));
    write('server.yaml', { ...server, timeouts: { idle: '10s' } });
    write('gateway/new.yaml', { override_params: { seed: 1 } });
    expect((await gateway.reload()).outcome).toBe('changed');
    expect(await ask()).toBe(200);
    expect(calls()).toBe(1);
    expect(new Set(tokens.sockets)).toEqual(sockets);
    expect(tokens.seen.at(-1)?.headers.authorization).toBe('Bearer token-1');
    // Another credential is another token, at once; and the first one has been let go meanwhile.
    write('catalog.yaml', catalogOf(vertex(account(tokens, 'b@test-project.iam.gserviceaccount.com'))));
    await gateway.reload();
    expect([await ask(), calls()]).toEqual([200, 2]);
    expect(tokens.seen.at(-1)?.headers.authorization).toBe('Bearer token-2');
    write('catalog.yaml', catalogOf(vertex(first)));
    await gateway.reload();
    expect([await ask(), calls()]).toEqual([200, 3]);
  });

  it('takes access from a key that is gone from keys.yaml', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const keys = (...ids: string[]) => ({ keys: ids.map((id) => ({ id, key: `key-of-team-${id}-0123456789` })) });
    const { gateway, chat, write } = await start({ catalog: catalogOf(openai(upstream.url)), keys: keys('a', 'b') });
    const ask = async (id: string) => (await chat({}, { 'x-gateway-api-key': `key-of-team-${id}-0123456789` })).status;
    expect([await ask('a'), await ask('b')]).toEqual([200, 200]);
    write('keys.yaml', keys('b'));
    await gateway.reload();
    expect([await ask('a'), await ask('b')]).toEqual([401, 200]);
  });

  it('sends the next request with a secret that was rotated in its own file, though the hash stays', async () => {
    const upstream = await upstreamOf((_, res) => json(res, anthropicReply('hi')));
    const secrets = mkdtempSync(join(tmpdir(), 'gatehouse-secret-'));
    closers.push(() => rmSync(secrets, { recursive: true }));
    writeFileSync(join(secrets, 'key'), `${OLD}\n`);
    const { gateway, chat, logs } = await start({
      server: WATCHING,
      catalog: catalogOf({
        slug: 'claude',
        provider: 'anthropic',
        api_key: `\${file:${secrets}/key}`,
        base_url: upstream.url,
        allow_insecure: true,
      }),
    });
    const { hash } = gateway.settings;
    const used = async () => {
      await chat({ model: '@claude/claude-haiku-4-5', max_tokens: 9 });
      return upstream.seen.at(-1)?.headers['x-api-key'];
    };
    expect(await used()).toBe(OLD);
    writeFileSync(join(secrets, 'key.new'), 'the-new-upstream-secret\n');
    renameSync(join(secrets, 'key.new'), join(secrets, 'key'));
    await until(() => logs().some(({ msg }) => msg === 'settings reloaded'), 'the secret was read anew');
    expect(await used()).toBe('the-new-upstream-secret');
    expect(gateway.settings.hash).toBe(hash);
    expect(JSON.stringify(logs())).not.toMatch(/the-(old|new)-upstream-secret/);
  });

  it('changes the level of the log and the access lines, and the timeouts of the listener', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const { gateway, chat, write, logs } = await start({ catalog: catalogOf(openai(upstream.url)) });
    const accessLines = () => logs().filter(({ msg }) => msg === 'request completed').length;
    await chat();
    await until(() => accessLines() === 1, 'the access line was written');
    write('server.yaml', { timeouts: { total: '7s' }, telemetry: { log: { level: 'warn' } } });
    expect((await gateway.reload()).outcome).toBe('changed');
    await chat();
    write('server.yaml', { telemetry: { log: { level: 'info', access: 'errors' } } });
    expect((await gateway.reload()).outcome).toBe('changed');
    await chat();
    write('server.yaml', {});
    await gateway.reload();
    await chat();
    await until(() => accessLines() === 2, 'access lines are written again');
    expect(upstream.seen.length).toBe(4);
  });

  it('does not swap when it finds nothing changed, and says so', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const { gateway, write, logs, metric, dir } = await start({
      catalog: catalogOf(openai(upstream.url)),
      keys: 'keys: [{ id: a, key: "key-of-team-a-0123456789" }]\n',
    });
    const { settings } = gateway;
    expect(await gateway.reload()).toMatchObject({ outcome: 'unchanged', hash: settings.hash, files: [] });
    write('keys.yaml', '# Who may call.\nkeys: [{ id: a, key: "key-of-team-a-0123456789" }]\n');
    expect(await gateway.reload()).toMatchObject({ outcome: 'unchanged', files: [join(dir, 'keys.yaml')] });
    expect(gateway.settings).toBe(settings);
    // Warnings stand where they are now.
    expect(gateway.warnings.map(({ line }) => line)).toEqual([2]);
    expect(logs().filter(({ msg }) => String(msg).includes('settings read again: unchanged')).length).toBe(2);
    expect(await metric('gatehouse_config_reloads_total{result="success"}')).toBe('3');
  });
});

describe('a reload of bad settings', () => {
  it('keeps what serves, tells every mistake at its place, and flips the gauge until the files are good again', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const good = catalogOf(openai(upstream.url));
    const { gateway, chat, write, logs, dir, metric } = await start({ catalog: good });
    const { hash } = gateway.settings;
    expect(await metric(SUCCESSFUL)).toBe('1');
    write('catalog.yaml', 'providers:\n  - slug: a\n    provider: anthropic2\n');
    write('keys.yaml', 'keys:\n  - id: a\n   key: b\n');
    const result = await gateway.reload();
    expect(result).toMatchObject({ outcome: 'refused', hash });
    const line = logs().find(({ level }) => level === 'error');
    expect(line).toMatchObject({ config_hash: hash, problems: 2 });
    expect(line?.['msg']).toContain(`settings refused, the previous settings still serve: ${dir}/catalog.yaml:3:15: `);
    expect(line?.['diagnostics']).toEqual([
      expect.objectContaining({ file: `${dir}/catalog.yaml`, line: 3, column: 15, suggestion: 'anthropic' }),
      expect.objectContaining({ file: `${dir}/keys.yaml`, line: 3 }),
    ]);
    expect(await metric(SUCCESSFUL)).toBe('0');
    expect(await metric('gatehouse_config_reloads_total{result="failure"}')).toBe('1');
    expect((await chat()).status).toBe(200);
    write('catalog.yaml', good);
    write('keys.yaml', { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}` }] });
    // Back to what serves: nothing to swap, and all is well again.
    expect((await gateway.reload()).outcome).toBe('unchanged');
    expect(await metric(SUCCESSFUL)).toBe('1');
  });

  it('names each setting that takes a restart, and takes nothing else of the files either', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const { gateway, chat, write, dir } = await start({
      server: { default_config: 'prod' },
      catalog: catalogOf(openai(upstream.url)),
      gateway: { prod: { override_params: { seed: 1 } } },
    });
    write('gateway/prod.yaml', { override_params: { seed: 2 } });
    write(
      'server.yaml',
      'default_config: prod\nlisten:\n  host: 127.0.0.1\n  port: 9\nstatus:\n  host: 127.0.0.1\n  port: 0\nadmin: { port: 0 }\nlimits:\n  header: 32KiB\n',
    );
    expect(await gateway.reload()).toMatchObject({
      outcome: 'refused',
      diagnostics: [
        {
          file: `${dir}/server.yaml`,
          line: 4,
          column: 9,
          message:
            '`listen.port` changes only with a restart: 0 → 9; the reload is refused, and the previous settings still serve',
        },
        { file: `${dir}/server.yaml`, line: 10, column: 11, message: expect.stringContaining('`limits.header`') },
      ],
    });
    await chat();
    expect(seedOf(upstream)).toBe(1);
  });

  it('closes what the plugins of the refused settings have opened, and only that', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const plugin = (name: string, create: string) =>
      `import { definePlugin } from ${JSON.stringify(API)};
      export default definePlugin({ name: '${name}', level: 'entry', options: { type: 'object', additionalProperties: false,
        properties: { name: { type: 'string' } } }, create({ options, host }) { ${create}
        return async (ctx, next) => { await next(); ctx.set('x-${name}', options.name ?? ''); }; } });`;
    const opens = `host.log.info('opened ' + options.name); host.onClose(() => host.log.info('closed ' + options.name));`;
    const chain = (...own: object[]) => ({ entry: ['telemetry', 'errors', ...own, 'auth', 'body', 'config'] });
    const tool = (name: string) => ({ plugin: 'tool', options: { name } });
    const { gateway, chat, write, logs } = await start({ catalog: catalogOf(openai(upstream.url)) });
    const said = () => logs().flatMap(({ msg }) => (/^(opened|closed)/.test(String(msg)) ? [msg] : []));
    write('tool.mjs', plugin('tool', opens));
    write('broken.mjs', plugin('broken', `throw new Error('no database');`));
    // A module that was not there at the start.
    write('server.yaml', { plugins: ['./tool.mjs'], chains: chain(tool('one')) });
    expect((await gateway.reload()).outcome).toBe('changed');
    expect((await chat()).headers.get('x-tool')).toBe('one');
    write('server.yaml', { plugins: ['./tool.mjs', './broken.mjs'], chains: chain(tool('two'), { plugin: 'broken' }) });
    expect(await gateway.reload()).toMatchObject({
      outcome: 'refused',
      diagnostics: [{ message: 'plugin "broken" cannot start: no database' }],
    });
    expect(said()).toEqual(['opened one', 'opened two', 'closed two']);
    expect((await chat()).headers.get('x-tool')).toBe('one');
    // A module that is not listed any more is not there any more.
    write('server.yaml', { chains: chain(tool('three')) });
    expect(await gateway.reload()).toMatchObject({ diagnostics: [{ message: 'unknown plugin "tool"' }] });
    write('server.yaml', {});
    expect((await gateway.reload()).outcome).toBe('changed');
    await until(() => said().includes('closed one'), 'the plugin was closed');
    expect((await chat()).headers.get('x-tool')).toBeNull();
  });

  it('does not take the gap in which a file is replaced for a mistake', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const { gateway, write, dir } = await start({ catalog: catalogOf(openai(upstream.url)) });
    renameSync(join(dir, 'keys.yaml'), join(dir, 'keys.yaml~'));
    const result = gateway.reload();
    setTimeout(() => write('keys.yaml', { keys: [{ id: 'b', key: `\${env:TEST_KEY:-${KEY}}` }] }), 5);
    expect((await result).outcome).toBe('changed');
    unlinkSync(join(dir, 'keys.yaml'));
    expect(await gateway.reload()).toMatchObject({
      outcome: 'refused',
      diagnostics: [{ message: 'this file is missing' }],
    });
  });
});

/** An upstream whose streams stop after the first chunk until the test lets them go on. */
async function heldStreams() {
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const upstream = await upstreamOf(async ({ json: body }, res) => {
    if (body['stream'] !== true) return json(res, openaiReply('plain'));
    await sse(res, [openaiChunk({ role: 'assistant', content: 'first' })], false);
    await held;
    if (res.destroyed) return;
    for (const event of [openaiChunk({ content: 'last' }), openaiChunk({}, 'stop')])
      res.write(`data: ${JSON.stringify(event)}\n\n`);
    res.end('data: [DONE]\n\n');
  });
  return { upstream, release };
}

const CLOSING_PLUGIN = `import { definePlugin } from ${JSON.stringify(API)};
export default definePlugin({ name: 'closing', level: 'entry', options: { type: 'object', additionalProperties: false,
  properties: { name: { type: 'string' } } }, create({ options, host }) {
    let open = true;
    host.onClose(() => { open = false; host.log.info('closed ' + options.name); });
    return async (ctx, next) => {
      ctx.exchange.onEnd(() => host.log.info('ended ' + options.name + ' ' + open));
      await next();
      ctx.set('x-version', options.name);
    };
  } });`;

/** An entry plugin that answers with a header; `create` and `top` are code of its author's. */
const moduleOf = (version: string, create = '', top = '') => `import { definePlugin } from ${JSON.stringify(API)};
  ${top}
  export default definePlugin({ name: 'tool', level: 'entry', options: { type: 'object' }, async create({ host }) { ${create}
    return async (ctx, next) => { await next(); ctx.set('x-tool', '${version}'); }; } });`;
const ENTRY = ['telemetry', 'errors', 'tool', 'auth', 'body', 'config'];
const WITH_TOOL = { plugins: ['./tool.mjs'], chains: { entry: ENTRY } };
const FOREVER = 'await new Promise(() => {});';
/** Says when it has come that far: the import before it is waited for as long. */
const CREATING = `host.log.info('creating'); ${FOREVER}`;

describe('a plugin that never ends starting', () => {
  it.each([
    ['create()', moduleOf('bad', CREATING), '"tool"'],
    ['its module', moduleOf('bad', '', FOREVER), './tool.mjs'],
  ])('in %s has the reload refused at its place, and the next reload runs', async (_, bad, named) => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const clock = createFakeClock();
    const running = await start({ catalog: catalogOf(openai(upstream.url)) }, undefined, { clock });
    const { gateway, write, metric, dir, logs } = running;
    // Other parts of the process wait as long.
    const waits = () => clock.pending.filter((ms) => ms === 10_000).length;
    const before = waits();
    const begun = () => (bad.includes('creating') ? logs().some(({ msg }) => msg === 'creating') : waits() > before);
    write('tool.mjs', bad);
    write('server.yaml', WITH_TOOL);
    const refused = gateway.reload();
    await until(begun, 'the plugin is waited for');
    await clock.advance(10_000);
    const result = await refused;
    expect(result).toMatchObject({ outcome: 'refused' });
    const [first] = result.outcome === 'refused' ? result.diagnostics : [];
    expect(first).toMatchObject({ file: `${dir}/server.yaml`, line: 1 });
    expect(first?.column).toBeGreaterThan(1);
    expect(first?.message).toContain(named);
    expect(first?.message).toContain('it did not end within 10 s');
    expect(await metric(SUCCESSFUL)).toBe('0');
    write('server.yaml', {});
    expect((await gateway.reload()).outcome).toBe('unchanged');
    expect(await metric(SUCCESSFUL)).toBe('1');
  });

  it('has the start refused at its place', async () => {
    const dir = writeSettings({ server: WITH_TOOL });
    closers.push(() => rmSync(dir, { recursive: true, force: true }));
    writeFileSync(join(dir, 'tool.mjs'), moduleOf('bad', CREATING));
    const clock = createFakeClock();
    const lines: string[] = [];
    const refused = startGateway({
      configs: dir,
      env: {},
      clock,
      logTo: { write: (line) => void lines.push(line) },
    }).catch((error: unknown) => error);
    await until(() => lines.some((line) => line.includes('creating')), 'the plugin is waited for');
    await clock.advance(10_000);
    expect(await refused).toMatchObject({
      name: 'SettingsRefused',
      diagnostics: [{ message: 'plugin "tool" cannot start: it did not end within 10 s' }],
    });
  });
});

describe('the file of a plugin module', () => {
  it('is loaded anew by a reload when it has changed or been repaired, and not otherwise', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const { gateway, write, chat, dir } = await start({ catalog: catalogOf(openai(upstream.url)) });
    const tool = async () => (await chat()).headers.get('x-tool');
    write('tool.mjs', `throw new Error('a typo');`);
    write('server.yaml', WITH_TOOL);
    expect((await gateway.reload()).outcome).toBe('refused');
    write('tool.mjs', moduleOf('one'));
    expect((await gateway.reload()).outcome).toBe('changed');
    expect(await tool()).toBe('one');
    expect((await gateway.reload()).outcome).toBe('unchanged');
    write('tool.mjs', moduleOf('second'));
    expect(await gateway.reload()).toMatchObject({ outcome: 'changed', files: [join(dir, 'tool.mjs')] });
    expect(await tool()).toBe('second');
  });
});

describe('a request in flight during a reload', () => {
  async function startWithPlugin(upstream: ScriptedUpstream) {
    const dir = writeSettings({ catalog: catalogOf(openai(upstream.url)) });
    writeFileSync(join(dir, 'closing.mjs'), CLOSING_PLUGIN);
    const server = (name: string) => ({
      plugins: ['./closing.mjs'],
      chains: { entry: ['telemetry', 'errors', { plugin: 'closing', options: { name } }, 'auth', 'body', 'config'] },
    });
    const running = await start({ server: server('v1'), catalog: catalogOf(openai(upstream.url)) }, dir);
    const said = () => running.logs().flatMap(({ msg }) => (/^(ended|closed)/.test(String(msg)) ? [msg] : []));
    return { ...running, server, said };
  }

  it('keeps its settings, and its plugins stay open until its reply has ended', async () => {
    const { upstream, release } = await heldStreams();
    const { gateway, chat, write, server, said, logs } = await startWithPlugin(upstream);
    const { hash } = gateway.settings;
    const stream = await chat({ stream: true });
    const reader = stream.body!.getReader();
    const first = Buffer.from((await reader.read()).value).toString();
    write('server.yaml', server('v2'));
    expect((await gateway.reload()).outcome).toBe('changed');
    expect((await chat()).headers.get('x-version')).toBe('v2');
    expect([stream.headers.get('x-version'), first]).toEqual(['v1', expect.stringContaining('first')]);
    await until(() => said().length === 1, 'the short request ended');
    expect(said()).toEqual(['ended v2 true']);
    release();
    let rest = '';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      rest += Buffer.from(piece.value).toString();
    expect(rest).toMatch(/last[\s\S]*\[DONE\]/);
    await until(() => said().length === 3, 'the old plugin was closed');
    expect(said()).toEqual(['ended v2 true', 'ended v1 true', 'closed v1']);
    const lines = logs().filter(({ msg }) => msg === 'request completed');
    expect(lines.map((line) => line['config_hash'])).toEqual([gateway.settings.hash, hash]);
    await gateway.close();
    expect(said().slice(3)).toEqual(['closed v2']);
  });

  it('lets its snapshot go when its client leaves', async () => {
    const { upstream, release } = await heldStreams();
    const { gateway, chat, write, server, said } = await startWithPlugin(upstream);
    const leaving = new AbortController();
    const stream = await chat({ stream: true }, {}, leaving.signal);
    await stream.body!.getReader().read();
    write('server.yaml', server('v2'));
    await gateway.reload();
    expect(said()).toEqual([]);
    leaving.abort();
    await until(() => said().length === 2, 'the old plugin was closed');
    expect(said()).toEqual(['ended v1 true', 'closed v1']);
    release();
  });

  it('loses nothing and mixes nothing: 1,000 requests over 20 reloads, some of them bad', async () => {
    const upstream = await upstreamOf(async ({ url, json: body }, res) => {
      const version = /^\/v(\d+)\//.exec(url)?.[1] ?? 'none';
      const said = `${version}:${String(body['seed'])}`;
      if (body['stream'] !== true) return json(res, openaiReply(said));
      const chunks = Array.from({ length: 5 }, () => openaiChunk({ content: `${said};` }));
      await sse(res, [...chunks, openaiChunk({}, 'stop'), 'data: [DONE]\n\n']);
    });
    // Two files that belong together: the entry's address and the config's parameter both say the version.
    const catalog = (version: number) => catalogOf(openai(`${upstream.url}/v${version}`));
    const config = (version: number) => ({ override_params: { seed: version } });
    const { gateway, chat, write, metric } = await start({
      server: { default_config: 'prod' },
      catalog: catalog(0),
      gateway: { prod: config(0) },
    });
    const goodKeys = { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}` }] };
    const mistakes: (() => void)[] = [
      () => write('keys.yaml', 'keys: [\n'),
      () => write('catalog.yaml', catalogOf({ slug: 'openai', provider: 'nobody' })),
      () => write('keys.yaml', { keys: [{ id: 'a', key: '${file:/nowhere/key}' }] }),
      () => write('server.yaml', { default_config: 'prod', listen: { host: '127.0.0.1', port: 1 } }),
      () => write('gateway/prod.yaml', { override_params: { seed: 999 }, targets: [{ provider: '@nobody' }] }),
    ];

    const answers: string[] = [];
    let sent = 0;
    const worker = async (): Promise<void> => {
      while (sent < 1000) {
        const stream = (sent += 1) % 2 === 0;
        const response = await chat({ stream });
        const text = await response.text();
        expect([response.status, text]).toEqual([200, expect.stringContaining(stream ? '[DONE]' : '"choices"')]);
        const said = new Set(text.match(/\d+:\d+|none:\w+/g));
        expect(said.size).toBe(1);
        answers.push([...said][0]!);
      }
    };
    const reloads = async (): Promise<string[]> => {
      const outcomes: string[] = [];
      for (let number = 1; number <= 20; number += 1) {
        await until(() => answers.length >= number * 45, `request ${number * 45} was answered`);
        write('server.yaml', { default_config: 'prod' });
        write('keys.yaml', goodKeys);
        write('catalog.yaml', catalog(number));
        write('gateway/prod.yaml', config(number));
        if (number % 4 === 0) mistakes[number / 4 - 1]!();
        outcomes.push((await gateway.reload()).outcome);
      }
      return outcomes;
    };
    const [outcomes] = await Promise.all([reloads(), ...Array.from({ length: 20 }, worker)]);
    expect(outcomes).toEqual(Array.from({ length: 20 }, (_, index) => ((index + 1) % 4 === 0 ? 'refused' : 'changed')));
    expect(answers.length).toBeGreaterThanOrEqual(1000);
    expect(answers.filter((said) => said.split(':')[0] !== said.split(':')[1])).toEqual([]);
    const versions = new Set(answers.map((said) => Number(said.split(':')[0])));
    // Each good state has answered, no bad one ever.
    expect([...versions].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, version) => version).filter((version) => version === 0 || version % 4 !== 0),
    );
    expect(await metric('gatehouse_config_reloads_total{result="success"}')).toBe('16');
    expect(await metric('gatehouse_config_reloads_total{result="failure"}')).toBe('5');
    expect(await metric(SUCCESSFUL)).toBe('0');
  });
});

describe('reloads that come together', () => {
  it('run one after the other, all who ask during one sharing the next', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const { gateway, write, logs } = await start({
      catalog: catalogOf(openai(upstream.url)),
      gateway: { prod: { override_params: { seed: 1 } } },
    });
    write('gateway/prod.yaml', { override_params: { seed: 2 } });
    const first = gateway.reload();
    const others = [gateway.reload(), gateway.reload(), gateway.reload()];
    expect([(await first).outcome, ...(await Promise.all(others)).map(({ outcome }) => outcome)]).toEqual([
      'changed',
      'unchanged',
      'unchanged',
      'unchanged',
    ]);
    expect(logs().filter(({ msg }) => String(msg).startsWith('settings')).length).toBe(2);
  });

  it('are ignored by a gateway that is stopping', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const { gateway, write, logs } = await start({ catalog: catalogOf(openai(upstream.url)) });
    const { hash } = gateway.settings;
    write('gateway/prod.yaml', { override_params: { seed: 2 } });
    const running = gateway.reload();
    const stopped = gateway.close();
    expect([(await running).outcome, (await gateway.reload()).outcome]).toEqual(['ignored', 'ignored']);
    await stopped;
    expect([gateway.settings.hash, logs().some(({ level }) => level === 'error')]).toEqual([hash, false]);
  });
});

describe('a gateway that watches its files', () => {
  it('says which folders it cannot watch, once, and reads them anew when it is asked to', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const settings = { server: WATCHING, catalog: catalogOf(openai(upstream.url)) };
    const { gateway, write, logs, dir } = await start(settings, undefined, {
      watchFolder() {
        throw new Error('ENOSPC: no watches left');
      },
    });
    for (const seed of [1, 2]) {
      write('gateway/prod.yaml', { override_params: { seed } });
      expect((await gateway.reload()).outcome).toBe('changed');
    }
    const warnings = logs().filter(({ level }) => level === 'warn');
    expect(new Set(warnings.map(({ folder }) => folder))).toEqual(new Set([tmpdir(), dir, join(dir, 'gateway')]));
    expect(warnings.length).toBe(3);
  });

  it('follows the deployments of a ConfigMap, each as a whole', async () => {
    const upstream = await upstreamOf(({ url, json: body }, res) =>
      json(res, openaiReply(`${url.split('/')[1]}:${String(body['seed'])}`)),
    );
    const mount = mkdtempSync(join(tmpdir(), 'gatehouse-mount-'));
    const deploy = (version: number): void => {
      const folder = `..2026_11_21_${version}`;
      mkdirSync(join(mount, folder, 'gateway'), { recursive: true });
      const put = (name: string, value: object) => writeFileSync(join(mount, folder, name), JSON.stringify(value));
      put('server.yaml', { ...LISTEN, ...WATCHING, default_config: 'prod' });
      put('catalog.yaml', catalogOf(openai(`${upstream.url}/v${version}`)));
      put('keys.yaml', { keys: [{ id: 'test', key: `\${env:TEST_KEY:-${KEY}}` }] });
      put('gateway/prod.yaml', { override_params: { seed: version } });
      symlinkSync(folder, join(mount, '..data_tmp'));
      const old = version > 1 ? readlinkSync(join(mount, '..data')) : undefined;
      renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
      if (old) return rmSync(join(mount, old), { recursive: true });
      for (const name of ['server.yaml', 'catalog.yaml', 'keys.yaml', 'gateway'])
        symlinkSync(`..data/${name}`, join(mount, name));
    };
    deploy(1);
    const { gateway, chat, metric } = await start({}, mount);
    const answer = async () =>
      ((await (await chat()).json()) as ReturnType<typeof openaiReply>).choices[0]!.message.content;
    expect(await answer()).toBe('v1:1');
    for (const version of [2, 3, 4]) {
      const { hash } = gateway.settings;
      deploy(version);
      await until(() => gateway.settings.hash !== hash, `version ${version} serves`);
      expect(await answer()).toBe(`v${version}:${version}`);
    }
    expect(await metric('gatehouse_config_reloads_total{result="failure"}')).toBe('0');
  });

  it('reads a refused file again when it is mended, and stops watching when the settings say so', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    let watchers = 0;
    const settings = { server: WATCHING, catalog: catalogOf(openai(upstream.url)) };
    const { gateway, write, logs } = await start(settings, undefined, {
      watchFolder(folder, on) {
        const watcher = watchFolder(folder, on);
        watchers += 1;
        return {
          close() {
            watchers -= 1;
            watcher.close();
          },
        };
      },
    });
    const { hash } = gateway.settings;
    // One change of a file may cause several reloads, so that nothing here counts them.
    write('gateway/prod.yaml', 'retry: [\n');
    await until(() => logs().some(({ msg }) => String(msg).startsWith('settings refused')), 'a refusal');
    expect(gateway.settings.hash).toBe(hash);
    write('gateway/prod.yaml', { override_params: { seed: 2 } });
    await until(() => gateway.settings.hash !== hash, 'the mended file serves');
    expect(watchers).toBeGreaterThan(0);
    write('server.yaml', QUIET);
    await until(() => watchers === 0, 'nothing is watched');
    const { hash: quiet } = gateway.settings;
    write('gateway/prod.yaml', { override_params: { seed: 3 } });
    // A reload that a change before has asked for may read the file first.
    await gateway.reload();
    expect(gateway.settings.hash).not.toBe(quiet);
  });
});

describe('gatehouse serve', () => {
  it('reads the settings anew on SIGHUP, says what came of it, and goes on', async () => {
    const upstream = await upstreamOf((_, res) => json(res, openaiReply('hi')));
    const dir = writeSettings({
      server: { ...QUIET, default_config: 'prod', drain: { delay: '0s' } },
      catalog: catalogOf(openai(upstream.url)),
      gateway: { prod: { override_params: { seed: 1 } } },
    });
    closers.push(() => rmSync(dir, { recursive: true, force: true }));
    const child = spawn(process.execPath, [MAIN, 'serve', '--configs', dir], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    closers.push(() => void child.kill('SIGKILL'));
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (out += piece.toString()));
    await until(() => out.includes('Try it'), 'the gateway listens');
    const url = /listens on (http:\/\/[\d.:]+);/.exec(out)![1]!;
    const seed = async () => {
      await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
        body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }] }),
      });
      return seedOf(upstream);
    };
    const hangUp = async (config: string, answer: string) => {
      writeFileSync(join(dir, 'gateway/prod.yaml'), config);
      const before = out.length;
      child.kill('SIGHUP');
      await until(() => out.slice(before).includes(answer), `it said: ${answer}`);
    };
    expect(await seed()).toBe(1);
    await hangUp('override_params: { seed: 2 }\n', 'settings reloaded');
    expect(await seed()).toBe(2);
    await hangUp('override_params: { seed: 3 }\nretri: {}\n', `${dir}/gateway/prod.yaml:2:1: `);
    expect(await seed()).toBe(2);
    await hangUp('override_params: { seed: 2 }\n', 'settings read again: unchanged');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
