import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import '../support/add-ons.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import type { Gateway } from '../../src/core/process/running-gateway.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { Clock } from '../../src/plugin/index.ts';

// earlier-build/ is the settings folder, the state folder and the files of a gateway of commit b97533f4, the last one before the core and the
// add-ons were parted, after some requests and calls of its admin API. expected.json is what that build answered for them afterwards.
const FIXTURE = join(import.meta.dirname, 'earlier-build');

interface Expected {
  /** Milliseconds since 1970 at which that gateway ended. */
  readonly at: number;
  readonly keys: { readonly store: string; readonly rotated: string };
  readonly adminToken: string;
  readonly file: string;
  readonly usage: readonly object[];
  readonly budgets: readonly { readonly name: string; readonly spent: number }[];
  readonly head: string;
  readonly rows: number;
  readonly objects: Readonly<Record<string, readonly object[]>>;
}

const expected = JSON.parse(readFileSync(join(FIXTURE, 'expected.json'), 'utf8')) as Expected;

/** The months, leases and files of the fixture must not end with the calendar. */
const clock: Clock = {
  ...systemClock,
  wall: () => expected.at + 60_000 + Math.round(systemClock.now()),
};

let folder: string;
let gateway: Gateway;
let logs = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-earlier-'));
  cpSync(FIXTURE, folder, { recursive: true });
  const server = join(folder, 'settings/server.yaml');
  // The status listener has its default port there, which another gateway of this machine may have.
  const text = readFileSync(server, 'utf8').replaceAll(/port: \d+/g, 'port: 0');
  writeFileSync(server, `${text}\nstatus: { port: 0 }\n`);
  const env = {
    STATE_DIR: join(folder, 'state'),
    FILES_DIR: join(folder, 'files'),
    GATEHOUSE_ENCRYPTION_KEYS: `1:${Buffer.from(Array.from({ length: 32 }, (_, byte) => byte)).toString('base64')}`,
    APP_KEY: 'app-key-of-the-fixture-000000000000',
    BATCH_KEY: 'batch-key-of-the-fixture-0000000000',
  };
  const logTo = { write: (line: string) => void (logs += line) };
  gateway = await startGateway({ configs: join(folder, 'settings'), env, clock, logTo });
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

const APP = { authorization: 'Bearer app-key-of-the-fixture-000000000000' };

async function admin<Body>(path: string): Promise<Body> {
  const url = `${gateway.admin!.url}/admin/v1/${path}`;
  const reply = await fetch(url, { headers: { authorization: `Bearer ${expected.adminToken}` } });
  return (await reply.json()) as Body;
}

const data = (path: string, init: RequestInit = { headers: APP }): Promise<Response> =>
  fetch(`${gateway.data.url}/v1/${path}`, init);

const chat = (key: string): Promise<Response> =>
  data('chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gemini-2.5-flash', messages: [{ role: 'user', content: 'Hello.' }] }),
  });

it('The audit of an earlier build is intact, and its head is in the chain', async () => {
  const { intact, rows, parts } = await admin<{ intact: boolean; rows: number; parts: object[] }>('audit:verify');
  expect([intact, rows >= expected.rows, parts.length]).toEqual([true, true, 1]);
  const head = `audit:verify?head=${expected.rows}:${expected.head}`;
  expect(await admin(head)).toMatchObject({ intact: true });
});

it.each(Object.keys(expected.objects))('The %s of an earlier build are those of today', async (kind) => {
  const { items } = await admin<{ items: Record<string, unknown>[] }>(`${kind}?limit=200`);
  expect(items.map(({ id, etag, spec }) => ({ id, etag, spec: spec ?? null }))).toEqual(expected.objects[kind]);
});

it('The usage of an earlier build has the same sums', async () => {
  expect(await admin('usage?by=key,model&step=all&from=2026-11-01')).toEqual({ items: expected.usage });
});

it('Budgets go on from the sums of an earlier build', async () => {
  const { items } = await admin<{ items: { name: string; cap: number; spent: number }[] }>('budgets?limit=200');
  expect(items.map(({ name, cap, spent }) => ({ name, cap, spent }))).toEqual(expected.budgets);
});

it('A file that an earlier build stored is read', async () => {
  expect(await (await data(`files/${expected.file}/content`)).text()).toBe('a file of the fixture\n');
});

it('Keys that an earlier build created and rotated are valid', async () => {
  expect([(await chat(expected.keys.store)).status, (await chat(expected.keys.rotated)).status]).toEqual([200, 200]);
  expect(logs).not.toContain('"level":"error"');
});
