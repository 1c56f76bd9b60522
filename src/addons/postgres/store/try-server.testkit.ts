import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { postgresMissing, startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { storeRules } from '../../budgets/store/rules/store-rules.ts';
import { readAddress, type DatabaseAddress } from '../settings/address.ts';
import { openPostgresStore, type PostgresOptions } from './state-store.ts';

export const newSchema = (): string => `test_${randomBytes(6).toString('hex')}`;

interface UsedServer {
  /** Why there can be none. */
  readonly missing: string | undefined;
  readonly server: TestPostgres;
  /** Opens a store on it, until the end of the test. */
  open(more?: Partial<PostgresOptions> & { readonly url?: string }): Promise<StateStore>;
}

/** A server for the tests of a file. */
export function useServer(settings: readonly string[] = []): UsedServer {
  const missing = postgresMissing();
  let server: TestPostgres | undefined;
  let opened: StateStore[] = [];
  beforeAll(async () => {
    if (missing === undefined) server = await startPostgres(settings);
  }, 300_000);
  afterEach(async () => {
    for (const store of opened) await store.close();
    opened = [];
  });
  afterAll(() => server?.end());
  return {
    missing,
    get server() {
      return server!;
    },
    async open({ url = server!.url(), ...more } = {}) {
      const store = await openPostgresStore({
        pg,
        address: readAddress(url) as DatabaseAddress,
        ca: undefined,
        patience: 20,
        schema: newSchema(),
        connections: 4,
        listen: false,
        keys: '',
        rules: storeRules,
        clock: systemClock,
        ...more,
      });
      opened.push(store);
      return store;
    },
  };
}
