import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeStateStore } from '../contract/state-store.testkit.ts';
import { openSqliteStore } from './state-store.ts';

describeStateStore({
  name: 'sqlite',
  open: async ({ clock, keys, maxNames }) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-'));
    const owner = { pid: process.pid, boot: 'a'.repeat(32), host: 'test' };
    const store = await openSqliteStore({ folder, owner, keys, maxNames }, clock);
    return {
      store,
      end: async () => {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
});
