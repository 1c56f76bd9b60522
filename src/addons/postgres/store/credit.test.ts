import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import {
  CREDIT_PARTS,
  LEASE_MS,
  type Boot,
  type Counters,
  type CreditUse,
  type LeaseRequest,
  type LeaseState,
} from '../../../core/ports/counters.ts';
import type { StoreRules } from '../../../core/ports/store-rules.ts';
import { NOON } from '../../budgets/store/contract/opened-store.testkit.ts';
import { MemoryCounters } from '../../budgets/store/memory/counters.ts';
import { storeRules } from '../../budgets/store/rules/store-rules.ts';
import { STEPS } from '../tables/migrations.ts';
import type { PostgresOptions } from './state-store.ts';
import { newSchema, useServer } from './try-server.testkit.ts';

const used = useServer();
const { missing } = used;
const open = (schema: string, more: Partial<PostgresOptions> = {}) => used.open({ schema, ...more });

const bootOf = (number: number): Boot => ({
  id: number.toString(16).padStart(32, '0'),
  host: 'test',
  role: 'single',
  version: '1',
  configHash: '',
  startedAt: 0,
});
const [A, B, OLD] = [bootOf(1), bootOf(2), bootOf(3)];
const NONE: CreditUse = { parts: 0, knows: 0 };
const ask = (need: number, want = need, node = 'team'): LeaseRequest => ({
  path: [{ node, period: 0 }],
  caps: [1000],
  need,
  want,
});

/** `pg` with a look at, or another text for, each statement of a client. */
function pgWith(change: (sql: string) => string): typeof pg {
  class ChangedClient extends pg.Client {
    override query(...args: unknown[]): never {
      const [sql, ...others] = args;
      const query = super.query as (...all: unknown[]) => never;
      return query.call(this, typeof sql === 'string' ? change(sql) : sql, ...others);
    }
  }
  return Object.create(pg, { Client: { value: ChangedClient } }) as typeof pg;
}

/** The counters of the release whose tables end with the first step: its functions, and rules without credit. */
const firstRelease: Partial<PostgresOptions> = {
  steps: STEPS.slice(0, 1),
  pg: pgWith((sql) =>
    sql
      .replace(
        /credit_load\((.*)\) AS result/su,
        `counting_load($1) || '{"tight": [], "lastChange": 0}'::jsonb AS result`,
      )
      .replace('credit_save(', 'counting_save(')
      .replace('boot_shown(', 'boot_seen('),
  ),
  rules: {
    ...storeRules,
    counting: (run) =>
      storeRules.counting((now, task) =>
        run(now, (tables) => task(new Proxy(tables, { get: (all, name) => memberOf(all, name) }))),
      ),
  } satisfies StoreRules,
};

function memberOf(tables: object, name: string | symbol): unknown {
  if (name === 'credit') return undefined;
  const member: unknown = Reflect.get(tables, name, tables);
  return typeof member === 'function' ? member.bind(tables) : member;
}

const stepOfPair = fc.record({
  act: fc.constantFrom('ask', 'ask', 'ask', 'ask', 'ask', 'hear', 'report', 'end', 'reap', 'wait'),
  by: fc.constantFrom(A, B),
  nodes: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
  period: fc.constantFrom(0, NOON),
  cap: fc.constantFrom(1000, 1000, 1000, 900, 2000),
  need: fc.integer({ min: 0, max: 500 }),
  more: fc.nat(500),
  covered: fc.nat(300),
});

/** One of two stores that are asked the same, and have numbers of leases of their own. */
class Side {
  readonly #counters: Counters;
  readonly #leases = new Map<string, number>();
  readonly #uses = new Map<string, CreditUse>();

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** The answer, without the numbers of leases. */
  async run(step: typeof stepOfPair extends fc.Arbitrary<infer Step> ? Step : never, batch: number): Promise<unknown> {
    const { act, by, nodes, period, cap, need, more, covered } = step;
    const named = nodes.map((node) => ({ node, period, name: `${by.id} ${node} ${period}` }));
    const own = named.map(({ name }) => this.#leases.get(name) ?? 0).filter((lease) => lease > 0);
    if (act === 'hear') {
      const { credit, live } = await this.#counters.take([], by, batch, this.#uses.get(by.id) ?? NONE);
      this.#uses.set(by.id, { parts: credit!.parts, knows: credit!.knows });
      return { credit, live };
    }
    if (act === 'report')
      return this.#withoutNumbers(
        await this.#counters.report(
          own.map((lease) => ({ lease, usedTotal: more })),
          by,
        ),
      );
    if (act === 'end') return this.#counters.giveBack(own, by);
    if (act === 'reap') return (await this.#counters.reap(by.id)).map(({ rest }) => rest).toSorted();
    if (act === 'wait') return undefined;
    const requests = named.map(({ name, ...ref }) => ({
      path: [ref],
      caps: [cap],
      need,
      want: need + more,
      covers: [{ lease: this.#leases.get(name) ?? 0, total: covered }],
    }));
    const { grants, live } = await this.#counters.take(requests, by, batch);
    for (const [at, { name }] of named.entries()) this.#leases.set(name, grants[at]!.leases[0]!.lease);
    return { live, grants: grants.map(({ granted, leases }) => ({ granted, leases: this.#withoutNumbers(leases) })) };
  }

  #withoutNumbers(states: readonly LeaseState[]) {
    return states.map(({ lease, ...state }) => ({ ...state, isLeased: lease > 0 }));
  }
}

describe.skipIf(missing !== undefined)(`credit in PostgreSQL${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('costs no round trip: a take and a report have two each', async () => {
    const sent: string[] = [];
    const counted = pgWith((sql) => {
      sent.push(sql);
      return sql;
    });
    const { counters } = await open(newSchema(), { pg: counted });
    let use = NONE;
    for (const [batch, by] of [B, A, A, A].entries()) {
      const { credit } = await counters.take([], by, batch + 1, by === A ? use : NONE);
      if (by === A) use = { parts: credit!.parts, knows: credit!.knows };
    }
    expect(use.parts).toBe(CREDIT_PARTS / 2);
    sent.length = 0;
    const { grants, credit } = await counters.take([ask(10)], A, 10, use);
    expect([sent.length, credit!.parts]).toEqual([2, CREDIT_PARTS / 2]);
    await counters.report([{ lease: grants[0]!.leases[0]!.lease, usedTotal: 5 }], A);
    expect(sent).toHaveLength(4);
    // The one that changes tightness begins anew, with the lock.
    await counters.take([ask(850)], A, 11, use);
    expect(sent).toHaveLength(8);
    // Near the cap requests wait: one round trip is enough for them.
    await counters.take([ask(10)], A, 12);
    expect(sent).toHaveLength(9);
  });

  it(
    'and grants near a cap, which the database decides alone, are those of the rules',
    { timeout: 300_000 },
    async () => {
      let alone = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(stepOfPair, { minLength: 30, maxLength: 50 }), async (steps) => {
          const clock = createFakeClock(NOON);
          const sent: string[] = [];
          const looked = pgWith((sql) => (sent.push(sql), sql));
          const store = await open(newSchema(), { pg: looked, now: () => clock.wall() });
          const sides = [store.counters, new MemoryCounters(clock, { givesCredit: true })].map((one) => new Side(one));
          for (const [at, step] of steps.entries()) {
            if (step.act === 'wait') await clock.advance(step.more * 200);
            sent.length = 0;
            const [database, memory] = [await sides[0]!.run(step, at + 1), await sides[1]!.run(step, at + 1)];
            expect(database).toEqual(memory);
            if (step.act === 'ask' && sent.length === 1) alone += 1;
          }
        }),
        { numRuns: 8 },
      );
      expect(alone).toBeGreaterThan(8);
    },
  );

  it('is no more than the whole together, whatever processes ask at once, and stops no call', async () => {
    const schema = newSchema();
    const stores = [await open(schema), await open(schema)];
    const uses = Array.from({ length: 12 }, () => NONE);
    for (let round = 1; round <= 6; round += 1) {
      await Promise.all(
        uses.map(async (use, at) => {
          const request = ask(1, 40, `team-${(at + round) % 4}`);
          const other = ask(1, 90, `team-${(at * 5 + round) % 7}`);
          const asked = request.path[0]!.node === other.path[0]!.node ? [request] : [request, other];
          const { credit } = await stores[at % 2]!.counters.take(asked, bootOf(at + 1), round, use);
          uses[at] = { parts: credit!.parts, knows: credit!.knows };
        }),
      );
      expect(uses.reduce((sum, { parts }) => sum + parts, 0)).toBeLessThanOrEqual(CREDIT_PARTS);
    }
    const left: number[] = [];
    for await (const piece of stores[0]!.counters.all())
      for (const { leased, tight } of piece) {
        left.push(leased);
        expect(leased <= 800 || (tight?.since ?? 0) > 0).toBe(true);
      }
    expect(Math.max(...left)).toBeLessThanOrEqual(1000);
    expect(uses.some(({ parts }) => parts > 0)).toBe(true);
  });

  it('begins when no gateway of the release before lives, whose counters are tight until then', async () => {
    const schema = newSchema();
    const clock = createFakeClock(NOON);
    const now = (): number => clock.wall();
    const old = await open(schema, { ...firstRelease, now });
    await old.boots.seen(OLD, { configHash: '', version: 0, refused: undefined });
    expect((await old.counters.take([ask(300)], OLD, 1)).grants[0]!.granted).toBe(300);
    // The next release brings its tables while the one before serves.
    const next = await open(schema, { now });
    const uses = new Map([A, B].map(({ id }) => [id, NONE]));
    let batch = 0;
    const hear = async (by: Boot, ...requests: LeaseRequest[]) => {
      const result = await next.counters.take(requests, by, (batch += 1), uses.get(by.id));
      uses.set(by.id, { parts: result.credit!.parts, knows: result.credit!.knows });
      return result;
    };
    const partsOf = async (): Promise<number[]> => {
      for (const by of [A, B, A, B, A, B]) await hear(by);
      return [...uses.values()].map(({ parts }) => parts);
    };
    const { credit } = await hear(A);
    expect(credit!.changes).toEqual([{ node: 'team', period: 0, isTight: true }]);
    expect(await partsOf()).toEqual([0, 0]);
    // Both serve: what one grants the other does not.
    expect((await hear(A, ask(100))).grants[0]!.granted).toBe(100);
    const [{ leases } = { leases: [] }] = (await old.counters.take([ask(1, 1000)], OLD, 2)).grants;
    expect(leases[0]!.granted).toBe(900);
    await old.counters.report([{ lease: leases[0]!.lease, usedTotal: 500 }], OLD);
    await old.counters.take([ask(900, 900, 'late')], OLD, 3);
    await clock.advance(LEASE_MS + 1);
    expect(await partsOf()).toEqual([CREDIT_PARTS / 2, CREDIT_PARTS / 2]);
    expect((await hear(B, ask(1))).grants[0]!.granted).toBe(0);
    expect((await next.counters.read([{ node: 'late', period: 0 }]))[0]!.tight!.since).toBeGreaterThan(0);
    // It was silent and returns: it would grant what is kept for credit, so it gets nothing until that has ended.
    await expect(old.counters.take([ask(1, 1, 'other')], OLD, 4)).rejects.toMatchObject({ code: 'unavailable' });
    await old.counters.report([], OLD);
    expect(await partsOf()).toEqual([0, 0]);
    expect((await old.counters.take([ask(1, 1, 'other')], OLD, 4)).grants[0]!.granted).toBe(1);
  });

  it('keeps a process with parts, however long it is silent, when a release before removes old ones', async () => {
    const schema = newSchema();
    const clock = createFakeClock(NOON);
    const now = (): number => clock.wall();
    const old = await open(schema, { ...firstRelease, now });
    const { counters } = await open(schema, { now });
    await counters.take([], A, 1, NONE);
    expect((await counters.take([], B, 1, NONE)).credit!.parts).toBe(CREDIT_PARTS / 2);
    await clock.advance(3 * 86_400_000);
    await old.counters.reap();
    const { grants } = await counters.take([ask(900, 1000)], bootOf(4), 1, NONE);
    // B has half of 100, of a counter without periods.
    expect(grants[0]!.granted).toBe(950);
    const client = new pg.Client(used.server.url());
    await client.connect();
    const { rows } = await client.query(`SELECT id FROM ${schema}.boot ORDER BY id`);
    await client.end();
    expect(rows).toEqual([{ id: B.id }, { id: bootOf(4).id }]);
  });
});
