import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { digestOf } from '../../src/core/settings/compile/api-keys.ts';
import { ANN } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import type { EntityChange } from '../../src/core/ports/entities.ts';
import { KeyEncryptionKeys } from '../../src/addons/budgets/store/rules/sealing.ts';
import { SqliteAudit } from '../../src/addons/budgets/store/sqlite/audit.ts';
import { Database } from '../../src/addons/budgets/store/sqlite/database.ts';
import { SqliteEntities } from '../../src/addons/budgets/store/sqlite/entities.ts';
import { Fleet } from '../cli/workers.testkit.ts';
import { until } from '../support/gateway.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const FIRST = 'gatehouse_abcdefghijkl_' + 'a'.repeat(43) + '012345';
const SECOND = 'gatehouse_abcdefghijkl_' + 'b'.repeat(43) + '012345';

let folder: string;
let upstream: ScriptedUpstream;
let fleet: Fleet | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-workers-'));
  upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
});
afterEach(async () => {
  await fleet?.end();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

/** Writes as a replica of another host would: the primary learns of it at its next look. */
function write(changes: readonly EntityChange[]): void {
  const db = new Database(join(folder, 'state', 'state.db'), { synchronous: 'FULL' });
  new SqliteEntities(db, new SqliteAudit(db), KeyEncryptionKeys.none()).write(changes, ANN, Date.now());
  db.close();
}

const put = (id: string, key: string): EntityChange => ({
  op: 'put',
  kind: 'keys',
  id,
  doc: {},
  digests: [{ slot: 0, digest: digestOf(key), last4: '', validFrom: 0, validTo: undefined }],
});

it('workers have what the store has: at their start, after each write, and when one replaces another', async () => {
  fleet = new Fleet({
    upstream: upstream.url,
    server: { state: { store: { type: 'sqlite', dir: join(folder, 'state') }, owns: ['keys'] } },
  });
  const { url } = await fleet.listens();
  const ask = async (key: string): Promise<number> => {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': key, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: '@own/m', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await reply.arrayBuffer();
    return reply.status;
  };
  /** Connections go to the workers in turn. */
  const all = async (key: string): Promise<number[]> => [
    ...new Set(await Promise.all(Array.from({ length: 6 }, () => ask(key)))),
  ];
  const becomes = async (key: string, status: number): Promise<void> => {
    for (let tries = 0; tries < 60; tries += 1) {
      if (JSON.stringify(await all(key)) === `[${status}]`) return;
      await sleep(250);
    }
    throw new Error(`waited in vain until ${status}`);
  };

  write([put('first', FIRST)]);
  await becomes(FIRST, 200);
  process.kill(fleet.workers[0]!, 'SIGKILL');
  await until(() => fleet!.workers.length === 3, 'another worker serves');
  expect(await all(FIRST)).toEqual([200]);
  write([{ op: 'delete', kind: 'keys', id: 'first' }, put('second', SECOND)]);
  await becomes(FIRST, 401);
  expect(await all(SECOND)).toEqual([200]);
}, 60_000);
