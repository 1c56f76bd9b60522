import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IncomingHttpHeaders } from 'node:http';
import { SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { Clock } from '../../src/plugin/index.ts';
import { KEYS } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { openInSameThread } from '../../src/addons/budgets/store/sqlite/same-thread-store.testkit.ts';
import { writeSettings, type TestSettings } from '../support/gateway.ts';

export const ADMIN_TOKEN = 'admin-token-0123456789';
export const FILE_KEY = 'gatehouse-test-key-0123456789';

/** An answer of the admin API. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The value of a JSON text; an empty object for other texts. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers of all shapes
  readonly json: any;
}

export interface Asked {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Address of the client, all of which are this machine: wrong tokens are counted by address. */
  readonly from?: string;
}

/** A gateway with a state store in a temporary folder, and its admin API. */
export interface AdminGateway {
  readonly gateway: Gateway;
  readonly configs: string;
  readonly folder: string;
  readonly logText: () => string;
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  /** Creates a token with the bootstrap token or, later, with the first one. */
  token(role: 'viewer' | 'operator' | 'admin', more?: object): Promise<string>;
  close(): Promise<void>;
  /** Closes the gateway and starts another on the same folders. */
  restart(): Promise<AdminGateway>;
}

export interface AdminSetup extends TestSettings {
  readonly clock?: Clock;
  /** In place of the settings of `state`; null: none. */
  readonly state?: object | null;
  readonly admin?: object;
  /** Variables beside those of the keys that seal. */
  readonly env?: Readonly<Record<string, string>>;
}

const TEAMS = {
  organizations: { acme: {} },
  teams: { search: { organization: 'acme', budgets: [{ cap: '500 USD', period: 'month' }] } },
};
/** Line 2 has the first key. */
const KEYS_FILE = `keys:\n  - id: test\n    key: ${FILE_KEY}\n    team: search\n`;

/** Line by line, as people write it: drafts add to it. */
const CATALOG = 'providers:\n  - slug: sim\n    provider: simulator\n';

export async function startAdmin(setup: AdminSetup = {}): Promise<AdminGateway> {
  const { clock: _, state, admin = {}, env = {}, ...settings } = setup;
  const top = mkdtempSync(join(tmpdir(), 'gatehouse-admin-'));
  const folder = join(top, 'state');
  const loopback = { host: '127.0.0.1', port: 0 };
  const own = {
    store: { type: 'sqlite', dir: folder },
    owns: [
      'keys',
      'teams',
      'organizations',
      'budgets',
      'limits',
      'prices',
      'alerts',
      'providers',
      'prompts',
      'configs',
    ],
    encryption_keys: '${env:KEYS}',
    ...state,
  };
  const server = {
    listen: loopback,
    status: loopback,
    admin: { port: 0, ...admin },
    default_config: 'default',
    ...(state !== null && { state: own }),
  };
  const configs = writeSettings({
    teams: TEAMS,
    keys: KEYS_FILE,
    catalog: CATALOG,
    gateway: { default: { provider: '@sim' } },
    ...settings,
    server: { ...server, ...Object(settings.server) },
  });
  return run({
    configs,
    folder,
    env,
    clock: setup.clock ?? systemClock,
    ...(setup.clock && { openStore: openInSameThread }),
    remove: () => [top, configs].forEach((path) => rmSync(path, { recursive: true, force: true })),
  });
}

interface Run {
  readonly configs: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly openStore?: typeof openInSameThread;
  readonly remove: () => void;
}

async function run(setup: Run, known?: string): Promise<AdminGateway> {
  const { configs, folder, env, clock, openStore, remove } = setup;
  const logs: string[] = [];
  const gateway = await startGateway({
    configs,
    ...(openStore && { openStore }),
    env: { ...env, KEYS },
    clock,
    logTo: { write: (line) => void logs.push(line) },
  }).catch((error: unknown) => {
    remove();
    if (error instanceof SettingsRefused) throw new Error(JSON.stringify(error.diagnostics), { cause: error });
    throw error;
  });
  let first = known;
  const ask: AdminGateway['ask'] = (method, path, asked) => send(gateway.admin!.url, method, `/admin/v1${path}`, asked);
  const create = async (by: string, role: string, more: object): Promise<string> => {
    const body = { id: `t-${Math.random().toString(36).slice(2)}`, role, ...more };
    const { status, json, text } = await ask('POST', '/tokens', { token: by, body });
    if (status !== 201) throw new Error(`no token: ${status} ${text}`);
    return json.token as string;
  };
  return {
    gateway,
    configs,
    folder,
    logText: () => logs.join(''),
    ask,
    async token(role, more = {}) {
      first ??= await create(readFileSync(join(folder, 'bootstrap-token'), 'utf8').trim(), 'admin', { content: true });
      return role === 'admin' && Object.keys(more).length === 0 ? first : create(first, role, more);
    },
    async close() {
      await gateway.close();
      remove();
    },
    async restart() {
      await gateway.close();
      return run(setup, first);
    },
  };
}

/** One chat with the key of the file, read to its end. */
export async function chat(
  { gateway }: AdminGateway,
  headers: Readonly<Record<string, string>> = {},
  body: object = {},
): Promise<Response> {
  const reply = await fetch(`${gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}`, ...headers },
    body: JSON.stringify({ model: '@sim/m', max_tokens: 10, messages: [{ role: 'user', content: 'canary' }], ...body }),
  });
  await reply.arrayBuffer();
  return reply;
}

/** Resolves when the file exists. The output of a gateway's process shows when it listens, not when its start is complete. */
export async function appears(file: string): Promise<void> {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
}

/**
 * Closes the store of a gateway, and replaces its folder with a file, so that the gateway cannot open it again: it tries every five
 * seconds.
 */
export async function endStore({ gateway, folder }: AdminGateway): Promise<void> {
  await gateway.state!.store!.close();
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
}

export function send(
  url: string,
  method: string,
  path: string,
  { token, body, headers = {}, from }: Asked = {},
): Promise<Answer> {
  const bytes = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const all = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(bytes !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(bytes)),
    }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    request(
      url + path,
      { method, headers: all, agent: false, ...(from !== undefined && { localAddress: from }) },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.once('error', reject);
        response.on('end', () => {
          const isJson =
            /json/.test(String(response.headers['content-type'])) &&
            !/jsonl/.test(String(response.headers['content-type']));
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson && text !== '' ? JSON.parse(text) : {},
          });
        });
      },
    )
      .on('error', reject)
      .end(bytes);
  });
}

/** The `spec` of a catalog entry that calls a server of the test. */
export const entrySpec = (url: string, more: object): object => ({
  provider: 'openai',
  base_url: `${url}/v1`,
  allow_insecure: true,
  models: ['gpt-5'],
  ...more,
});
