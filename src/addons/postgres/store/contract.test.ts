import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  startPgbouncer,
  startPostgres,
  postgresMissing,
  type TestPostgres,
} from '../../../../test/support/postgres.ts';
import { NEXT_STEP } from '../../../../test/fleet/next-step.ts';
import { describeCredit } from '../../budgets/store/contract/credit.testkit.ts';
import { describeStateStore } from '../../budgets/store/contract/state-store.testkit.ts';
import type { Backend } from '../../budgets/store/contract/opened-store.testkit.ts';
import { storeRules } from '../../budgets/store/rules/store-rules.ts';
import { STEPS } from '../tables/migrations.ts';
import { readAddress, type DatabaseAddress } from '../settings/address.ts';
import { openPostgresStore } from './state-store.ts';

const missing = postgresMissing();
const noBouncer = missing ?? postgresMissing(['pgbouncer']);

let server: TestPostgres;
let bouncer: { readonly url: string; end(): Promise<void> } | undefined;

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  if (noBouncer === undefined) bouncer = await startPgbouncer(server);
}, 300_000);

afterAll(async () => {
  await bouncer?.end();
  await server?.end();
});

/** @param isBefore a gateway of the next release has made its tables meanwhile */
const backendOf = (name: string, url: () => string, listens: boolean, isBefore = false): Backend => ({
  name,
  async open({ clock, keys, maxNames }) {
    const address = readAddress(url()) as DatabaseAddress;
    const schema = `test_${randomBytes(6).toString('hex')}`;
    const options = {
      pg,
      address,
      ca: undefined,
      patience: 20,
      schema,
      connections: 4,
      listen: listens,
      keys,
      rules: storeRules,
      clock,
      maxNames,
      now: () => clock.wall(),
    };
    const store = await openPostgresStore(options);
    if (isBefore) await (await openPostgresStore({ ...options, steps: [...STEPS, NEXT_STEP] })).close();
    return {
      store,
      async end() {
        await store.close();
        const client = new pg.Client(server.url());
        await client.connect();
        await client.query(`DROP SCHEMA ${schema} CASCADE`);
        await client.end();
      },
    };
  },
});

describe.skipIf(missing !== undefined)(`PostgreSQL${missing === undefined ? '' : ` (${missing})`}`, () => {
  describeStateStore(backendOf('postgres', () => server.url(), true));
  describeCredit(backendOf('postgres', () => server.url(), true));
});

describe.skipIf(missing !== undefined)(
  `PostgreSQL with the tables of the next release${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    describeStateStore(backendOf('postgres of the next release', () => server.url(), true, true));
    describeCredit(backendOf('postgres of the next release', () => server.url(), true, true));
  },
);

describe.skipIf(noBouncer !== undefined)(
  `PostgreSQL behind pgbouncer${noBouncer === undefined ? '' : ` (${noBouncer})`}`,
  () => {
    describeStateStore(backendOf('postgres without session state', () => bouncer!.url, false));
    describeCredit(backendOf('postgres without session state', () => bouncer!.url, false));
  },
);
