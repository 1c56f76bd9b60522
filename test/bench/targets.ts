/** How each gateway starts, and the headers that lead a request through it to a mock. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { MORE_HEADERS, PORT_BESIDE, writeSettingsBeside } from './settings-beside.ts';
import { WITH_MORE, WITH_PLUGIN, type TargetId } from './workloads.ts';

export const CHAT_PATH = '/v1/chat/completions';

export interface Target {
  /** Default: that of chat completions. Another path is also compared with that of chat completions in the same process. */
  readonly path?: string;
  readonly command: readonly string[];
  /** Default: 8800. */
  readonly port?: number | undefined;
  /** Headers of a request to the mock at this port. */
  readonly headers: (port: number) => Readonly<Record<string, string>>;
}

const PORTKEY = ['@portkey-ai/gateway@1.15.2', 'hono@4.9.7', '@hono/node-server@1.13.5'];
const SETTINGS = packageFile('test/bench/settings');

/** Folder of Portkey: PORTKEY_DIR, or installed from npm. `undefined` if npm fails. */
function portkeyFolder(): string | undefined {
  const { PORTKEY_DIR } = process.env;
  if (PORTKEY_DIR !== undefined) return PORTKEY_DIR;
  const folder = join(tmpdir(), 'gatehouse-bench-portkey-1.15.2');
  if (existsSync(join(folder, 'node_modules/@portkey-ai'))) return folder;
  try {
    mkdirSync(folder, { recursive: true });
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
    execFileSync('npm', ['install', ...flags, ...PORTKEY], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    return folder;
  } catch {
    console.log('Portkey is not measured: npm could not install it. PORTKEY_DIR may name a folder that has it.');
    return undefined;
  }
}

const direct = (port: number) => ({ 'x-up': String(port) });

export const GATEHOUSE_HEADERS = (slug: string) => (port: number) => ({
  'x-gateway-provider': `@${slug}${port}`,
  'x-gateway-api-key': 'bench-key-0123456789',
  // Vertex takes the token of the caller.
  ...(slug === 'ver' && { authorization: 'Bearer ya29.test' }),
});

const gatehouse = (slug: string): Target => ({
  command: [process.execPath, packageFile('src/cli/main.ts'), 'serve', '--configs', SETTINGS],
  headers: GATEHOUSE_HEADERS(slug),
});

/** A config names its provider itself. */
const withMore = (more: Readonly<Record<string, string>>) => (port: number) => {
  const { 'x-gateway-provider': provider, ...others } = GATEHOUSE_HEADERS('oai')(port);
  return { ...others, ...('x-gateway-config' in more ? {} : { 'x-gateway-provider': provider }), ...more };
};

const portkey = (folder: string, provider: string, more: Readonly<Record<string, string>> = {}): Target => ({
  command: [
    process.execPath,
    join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js'),
    '--port=8800',
    '--headless',
  ],
  headers: (port) => ({
    'x-portkey-provider': provider,
    'x-portkey-custom-host': `http://127.0.0.1:${port}/v1`,
    authorization: 'Bearer sk-test',
    ...more,
  }),
});

/** @param folder of the run, with the configuration of nginx */
export function targetsFor(wanted: readonly TargetId[], folder: string): ReadonlyMap<TargetId, Target> {
  const peer = wanted.some((id) => id.startsWith('portkey')) ? portkeyFolder() : undefined;
  const { BENCH_BEFORE } = process.env;
  const besideIt = (id: Parameters<typeof writeSettingsBeside>[1], ...build: readonly string[]): Target => ({
    command: [process.execPath, packageFile('test/bench/pair.ts'), SETTINGS, writeSettingsBeside(folder, id), ...build],
    headers: GATEHOUSE_HEADERS('oai'),
    port: PORT_BESIDE,
  });
  const vertex = { 'x-portkey-vertex-project-id': 'p1', 'x-portkey-vertex-region': 'us-central1' };
  const all: readonly (readonly [TargetId, Target])[] = [
    [
      'bare',
      { command: [process.execPath, packageFile('test/bench/bare-proxy.ts')], headers: direct, port: PORT_BESIDE },
    ],
    ['nginx', { command: ['nginx', '-p', folder, '-c', 'proxy.conf'], headers: direct }],
    ['gatehouse-openai', gatehouse('oai')],
    ['gatehouse-anthropic', gatehouse('ant')],
    ['gatehouse-responses', { ...gatehouse('ant'), path: '/v1/responses' }],
    ['gatehouse-gemini', gatehouse('ver')],
    // An earlier build, in a folder with its packages.
    ...(BENCH_BEFORE === undefined ? [] : ([['before', besideIt('before', BENCH_BEFORE)]] as const)),
    ...WITH_PLUGIN.map((id) => [id, besideIt(id)] as const),
    ...WITH_MORE.map((id) => [id, { ...besideIt(id), headers: withMore(MORE_HEADERS[id]) }] as const),
    ...(peer === undefined
      ? []
      : ([
          ['portkey-openai', portkey(peer, 'openai')],
          ['portkey-anthropic', portkey(peer, 'anthropic')],
          ['portkey-gemini', portkey(peer, 'vertex-ai', vertex)],
        ] as const)),
  ];
  return new Map(all.filter(([id]) => wanted.includes(id)));
}
