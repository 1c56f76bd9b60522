import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { Authority } from '../../src/core/settings/read/certificates.testkit.ts';
import { KEY, until } from '../support/gateway.ts';
import { startPair, type Pair } from '../support/pair.ts';
import { json, openaiReply, sse, openaiChunk, type Script } from '../support/upstream.ts';
import { ask } from './tls.testkit.ts';

const authority = new Authority();
afterAll(() => authority.close());
const page = readFileSync(packageFile('docs/operate/reverse-proxy.md'), 'utf8');
const blockOf = (language: string): string => {
  const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)?.[1];
  if (found === undefined) throw new Error(`the page has no block of ${language}`);
  return found;
};

/** Replaces a part of the page's file that must be in it. */
function replace(text: string, before: string, after: string): string {
  if (!text.includes(before)) throw new Error(`the page has no line with ${before}`);
  return text.replace(before, after);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  // A TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** What comes from the address of a client, as the proxy is made to see it here. */
const CLIENT = '203.0.113.7';

interface Setup {
  readonly folder: string;
  readonly port: number;
  readonly gateway: string;
}

/** The page's own file, with ports, folders and the address of the client of this test. */
function nginxFile({ folder, port, gateway }: Setup): string {
  let site = replace(blockOf('nginx'), 'server 127.0.0.1:8787;', `server ${gateway};`);
  site = replace(
    site,
    'listen 443 ssl;',
    `listen 127.0.0.1:${port} ssl;\n  set_real_ip_from 127.0.0.1;\n  real_ip_header X-Test-Client;`,
  );
  site = replace(site, '/etc/nginx/tls/tls.crt', join(folder, 'tls.crt'));
  site = replace(site, '/etc/nginx/tls/tls.key', join(folder, 'tls.key'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const own = `pid ${folder}/pid;\ndaemon off;\nmaster_process off;\nerror_log ${folder}/error.log;\nevents {}\n`;
  return `${own}http {\naccess_log off;\n${paths.join('\n')}\n${site}}\n`;
}

function caddyFile({ folder, port, gateway }: Setup): string {
  let site = replace(
    blockOf('caddyfile'),
    'gateway.example.com {',
    `https://127.0.0.1:${port} {\n\ttls ${folder}/tls.crt ${folder}/tls.key`,
  );
  site = replace(site, 'reverse_proxy 127.0.0.1:8787 {', `reverse_proxy ${gateway} {`);
  // Caddy 2.6 takes the client's address from its connection, which is loopback here.
  site = replace(site, 'header_up -Forwarded', `header_up -Forwarded\n\t\theader_up X-Forwarded-For ${CLIENT}`);
  return `{\n\tadmin off\n\tauto_https off\n}\n${site}`;
}

const PROXIES = [
  { name: 'nginx', file: nginxFile, args: (path: string, folder: string) => ['-p', folder, '-c', path] },
  { name: 'caddy', file: caddyFile, args: (path: string) => ['run', '--adapter', 'caddyfile', '--config', path] },
];

// Debian installs nginx there, which is not in the path of every user.
process.env['PATH'] += ':/usr/sbin';

const isInstalled = (name: string): boolean =>
  spawnSync(name, [name === 'caddy' ? 'version' : '-v']).error === undefined;

async function start(proxy: (typeof PROXIES)[number], script: Script): Promise<Pair & { readonly url: string }> {
  const keys = [{ id: 'test', key: `\${env:NONE:-${KEY}}`, networks: ['203.0.113.0/24'] }];
  const pair = await startPair(script, { server: { trusted_proxies: ['127.0.0.1/32'] }, keys: { keys } });
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-proxy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { cert, key } = authority.issue();
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  const port = await freePort();
  const path = join(folder, 'proxy.conf');
  writeFileSync(path, proxy.file({ folder, port, gateway: new URL(pair.gateway.url).host }));
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const running = spawn(proxy.name, proxy.args(path, folder), { stdio: ['ignore', 'ignore', 'pipe'], env });
  let said = '';
  running.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  onTestFinished(async () => {
    running.kill('SIGKILL');
    if (running.exitCode === null) await new Promise((resolve) => running.once('close', resolve));
  });
  let listens = false;
  const look = (): void => {
    const socket = connect(port, '127.0.0.1', () => (listens = true));
    socket.on('error', () => {}).once('connect', () => socket.destroy());
  };
  const looking = setInterval(look, 50);
  await until(() => listens || running.exitCode !== null, `${proxy.name} listens`);
  clearInterval(looking);
  if (!listens) throw new Error(`${proxy.name} did not start: ${said.slice(0, 2000)}`);
  return { ...pair, url: `https://127.0.0.1:${port}` };
}

const { cert: ca } = authority;
const headers = { 'x-gateway-api-key': KEY, 'x-test-client': CLIENT };
const answers: Script = (_, res) => json(res, openaiReply('hi'));

describe.each(PROXIES)('behind $name as the page has it', (proxy) => {
  const test = it.skipIf(!isInstalled(proxy.name));

  test('a stream arrives as it is made, and a client that leaves ends it upstream', async () => {
    const { url, upstream } = await start(proxy, (_, res) =>
      sse(res, [openaiChunk({ role: 'assistant', content: 'begun' })], false),
    );
    let text = '';
    const body = JSON.stringify({ model: '@openai/m', stream: true, messages: [{ role: 'user', content: 'hi' }] });
    const sent = request(
      `${url}/v1/chat/completions`,
      { method: 'POST', agent: false, ca, headers: { 'content-type': 'application/json', ...headers } },
      (response) => response.on('data', (piece: Buffer) => (text += piece.toString())).on('error', () => {}),
    );
    sent.on('error', () => {});
    sent.end(body);
    await until(() => text.includes('begun'), 'the first event has arrived while the reply is running');
    expect(upstream.seen[0]?.aborted).toBe(false);
    sent.destroy();
    await until(() => upstream.seen[0]?.aborted === true, 'the upstream notices');
  });

  test('the address of the client is the one that the proxy saw, whatever the client claims', async () => {
    const { url, gateway } = await start(proxy, answers);
    const claimed = { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' };
    const answer = await ask(url, ca, { headers: { ...headers, ...claimed } });
    expect(answer.status).toBe(200);
    expect(gateway.logs.find((line) => 'client_ip' in line)).toMatchObject({ client_ip: CLIENT });
    // Past the proxy the client is one of this machine, which the networks of the key leave out.
    const direct = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-gateway-api-key': KEY } });
    expect(direct.status).toBe(403);
  });

  test('a body of 20 MiB passes', async () => {
    const { url, upstream } = await start(proxy, answers);
    const content = 'x'.repeat(20 * 1024 * 1024);
    const body = { model: '@openai/m', messages: [{ role: 'user', content }] };
    expect((await ask(url, ca, { headers, body })).status).toBe(200);
    expect(upstream.seen[0]?.text.length).toBeGreaterThan(content.length);
  });

  test('a WebSocket opens', async () => {
    const { url } = await start(proxy, answers);
    const socket = new WebSocket(`${url.replace('https:', 'wss:')}/v1/responses`, {
      ca,
      headers: { ...headers, authorization: `Bearer ${KEY}` },
    });
    onTestFinished(() => socket.terminate());
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  });
});
