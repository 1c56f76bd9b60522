import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  LEASE_MS,
  MAX_NANO,
  type LeaseRequest,
  type Boot,
  type Counters,
  type CounterRef,
} from '../../../../core/ports/counters.ts';
import { ANN, NOON, onStore, type Backend } from './opened-store.testkit.ts';

const boot = (digit: number): Boot => ({
  id: digit.toString(16).repeat(32),
  host: 'test',
  role: 'worker',
  version: '1.0.0',
  configHash: '',
  startedAt: NOON,
});
const A = boot(1);
const B = boot(2);
const TEAM: CounterRef = { node: 'team/search', period: NOON };
const KEY: CounterRef = { node: 'key/ci', period: NOON };
const ask = (need: number, want = need, caps: LeaseRequest['caps'] = [100, undefined]): LeaseRequest => ({
  path: [TEAM, KEY],
  caps,
  need,
  want,
});
const sums = async (counters: Counters, ref = TEAM) => {
  const [{ spent, leased, unreconciled } = { spent: 0, leased: 0, unreconciled: 0 }] = await counters.read([ref]);
  return [spent, leased, unreconciled];
};

/** The contract of `Counters`. */
export function describeCounters(backend: Backend<'counters'>): void {
  const on = (test: Parameters<typeof onStore<'counters'>>[1]) => onStore(backend, test);

  describe(`counters in ${backend.name}`, () => {
    it(
      'grant what the narrowest node of a path has free, to all its nodes or to none',
      on(async ({ counters }) => {
        const { grants, live } = await counters.take([ask(10, 60), ask(50), ask(40)], A, 1);
        expect([grants.map(({ granted }) => granted), live]).toEqual([[60, 0, 40], 1]);
        expect(grants[2]!.leases).toMatchObject([
          { state: 'live', granted: 100, used: 0, counter: { ...TEAM, spent: 0, leased: 100, unreconciled: 0 } },
          { state: 'live', granted: 100, counter: { ...KEY, leased: 100 } },
        ]);
        const { grants: others, live: both } = await counters.take([ask(1)], B, 1);
        expect([others[0]!.granted, others[0]!.leases[0]!.counter!.leased, both]).toEqual([0, 100, 2]);
      }),
    );

    it(
      'move what is reported from leased to spent, and count what exceeds the lease',
      on(async ({ counters }) => {
        const { grants } = await counters.take([ask(50)], A, 1);
        const lease = grants[0]!.leases[0]!.lease;
        const [after] = await counters.report([{ lease, usedTotal: 30 }], A);
        expect(after).toMatchObject({ state: 'live', granted: 50, used: 30, counter: { spent: 30, leased: 20 } });
        await counters.report([{ lease, usedTotal: 70 }], A);
        expect(await sums(counters)).toEqual([70, 0, 0]);
        await counters.giveBack([lease], A);
        expect(await sums(counters)).toEqual([70, 0, 0]);
      }),
    );

    it(
      'count a repeated or late call once',
      on(async ({ counters }) => {
        const first = await counters.take([ask(50)], A, 1);
        expect(await counters.take([ask(50)], A, 1)).toEqual(first);
        const lease = first.grants[0]!.leases[0]!.lease;
        for (const usedTotal of [20, 30, 20, 30, 10]) await counters.report([{ lease, usedTotal }], A);
        expect(await sums(counters)).toEqual([30, 20, 0]);
        await counters.take([ask(10)], A, 2);
        await expect(counters.take([ask(10)], A, 1)).rejects.toMatchObject({ code: 'conflict' });
        for (let turn = 0; turn < 3; turn += 1) await counters.giveBack([lease, lease], A);
        expect(await sums(counters)).toEqual([30, 0, 0]);
        await counters.report([{ lease, usedTotal: 35 }], A);
        expect(await sums(counters)).toEqual([35, 0, 0]);
      }),
    );

    it(
      'know no lease of another process',
      on(async ({ counters }) => {
        const { grants } = await counters.take([ask(50)], A, 1);
        const lease = grants[0]!.leases[0]!.lease;
        expect(
          await counters.report(
            [
              { lease, usedTotal: 50 },
              { lease: 999, usedTotal: 1 },
            ],
            B,
          ),
        ).toMatchObject([{ state: 'unknown' }, { state: 'unknown' }]);
        await counters.giveBack([lease, 999], B);
        expect(await sums(counters)).toEqual([0, 50, 0]);
      }),
    );

    it(
      'hold what a lost process may have spent, until it reports or gives it back',
      on(async ({ counters }, clock) => {
        const { grants } = await counters.take([ask(50)], A, 1);
        const lease = grants[0]!.leases[0]!.lease;
        await counters.report([{ lease, usedTotal: 10 }], A);
        expect(await counters.reap()).toEqual([]);
        await clock.advance(LEASE_MS - 1);
        await counters.report([], A);
        await clock.advance(LEASE_MS + 1);
        expect(await counters.reap()).toMatchObject([
          { ...TEAM, lease, boot: A.id, rest: 40 },
          { ...KEY, rest: 50 },
        ]);
        expect(await sums(counters)).toEqual([10, 0, 40]);
        expect((await counters.take([ask(51)], B, 1)).grants[0]!.granted).toBe(0);
        expect(await counters.report([{ lease, usedTotal: 25 }], A)).toMatchObject([{ state: 'lost', used: 25 }]);
        expect(await sums(counters)).toEqual([25, 0, 25]);
        expect((await counters.take([ask(5)], A, 2)).grants[0]!.leases[0]!.lease).not.toBe(lease);
        await counters.giveBack([lease], A);
        expect(await sums(counters)).toEqual([25, 5, 0]);
      }),
    );

    it(
      'declare the leases of one process lost on demand',
      on(async ({ counters }) => {
        await counters.take([ask(20)], A, 1);
        await counters.take([ask(30)], B, 1);
        expect(await counters.reap(A.id)).toHaveLength(2);
        expect(await sums(counters)).toEqual([0, 30, 20]);
      }),
    );

    it(
      'end the leases of a process that has ended, lost ones and those whose answer never came too, and none of others',
      on(async ({ counters }) => {
        const { grants } = await counters.take([ask(20)], A, 1);
        await counters.reap(A.id);
        await counters.take([ask(30)], A, 2);
        await counters.take([ask(5)], B, 1);
        const first = grants[0]!.leases[0]!.lease;
        await counters.report([{ lease: first, usedTotal: 8 }], A);
        expect(await sums(counters)).toEqual([8, 35, 12]);
        for (let turn = 0; turn < 2; turn += 1) await counters.giveBack([first], A, first);
        expect([await sums(counters), await sums(counters, KEY)]).toEqual([
          [8, 5, 0],
          [0, 5, 0],
        ]);
        await counters.report([{ lease: first, usedTotal: 9 }], A);
        expect(await sums(counters)).toEqual([9, 5, 0]);
      }),
    );

    it(
      'keep a lease open that a process gave back before a failover, and count its rest as spent',
      on(async ({ counters }) => {
        // Its report and its return were lost.
        const { grants } = await counters.take([ask(20)], A, 1);
        await counters.giveBack([], A, grants[0]!.leases[0]!.lease);
        expect(await sums(counters)).toEqual([0, 20, 0]);
        await counters.reap(A.id);
        expect(await sums(counters)).toEqual([0, 0, 20]);
      }),
    );

    it(
      'change by adjustments, once for each id',
      on(async ({ counters }) => {
        const topUp = { ...TEAM, id: 'a1', of: 'spent', by: -40, why: 'paid' } as const;
        expect(await counters.adjust(topUp, ANN)).toMatchObject({ spent: -40 });
        expect(await counters.adjust(topUp, ANN)).toMatchObject({ spent: -40 });
        expect((await counters.take([ask(140)], A, 1)).grants[0]!.granted).toBe(140);
      }),
    );

    it(
      'write off what a lost process left, and do not take its late report from others',
      on(async ({ counters }) => {
        const { grants } = await counters.take([ask(40)], A, 1);
        const lease = grants[0]!.leases[0]!.lease;
        await counters.reap(A.id);
        await counters.adjust({ ...TEAM, id: 'w1', of: 'unreconciled', by: -30, why: 'checked' }, ANN);
        expect(await sums(counters)).toEqual([0, 0, 10]);
        await counters.take([ask(20)], B, 1);
        await counters.reap(B.id);
        await counters.report([{ lease, usedTotal: 40 }], A);
        expect(await sums(counters)).toEqual([40, 0, 20]);
      }),
    );

    it(
      'let one caller set each bit of a notice',
      on(async ({ counters }) => {
        const won = await Promise.all(Array.from({ length: 5 }, () => counters.notify(TEAM, 2)));
        expect(won.filter(Boolean)).toHaveLength(1);
        expect([await counters.notify(TEAM, 0), await counters.notify(KEY, 2), await counters.notify(TEAM, 2)]).toEqual(
          [true, true, false],
        );
        expect((await counters.read([TEAM]))[0]!.notified).toBe(0b101);
        expect([await counters.notify(TEAM, 31), await counters.notify(TEAM, 31)]).toEqual([true, false]);
        expect(await counters.notify(TEAM, 0)).toBe(false);
      }),
    );

    it(
      'stay at the largest amount, and keep the other reports of the call',
      on(async ({ counters }) => {
        const { grants } = await counters.take([ask(50)], A, 1);
        const [team, key] = grants[0]!.leases;
        await counters.adjust({ ...TEAM, id: 'a', of: 'spent', by: 10, why: 'x' }, ANN);
        await counters.report(
          [
            { lease: team!.lease, usedTotal: MAX_NANO },
            { lease: key!.lease, usedTotal: 30 },
          ],
          A,
        );
        expect([await sums(counters), await sums(counters, KEY)]).toEqual([
          [MAX_NANO, 0, 0],
          [30, 20, 0],
        ]);
      }),
    );

    it(
      'forget periods that ended, without those that still have leases',
      on(async ({ counters }) => {
        const at = (period: number, node = 'n'): CounterRef => ({ node, period });
        for (const ref of [at(0), at(1), at(2), at(9)]) await counters.notify(ref, 0);
        const path = [at(1, 'leased')];
        await counters.take([{ path, caps: [undefined], need: 1, want: 1 }], A, 1);
        expect(await counters.forget(NOON - 5)).toBe(2);
        const left: CounterRef[] = [];
        for await (const piece of counters.all()) left.push(...piece);
        expect(left.map(({ node, period }) => [node, period])).toEqual([
          ['leased', 1],
          ['n', 0],
          ['n', 9],
        ]);
      }),
    );

    it.each([
      ['an amount with a fraction', ask(0.5)],
      ['a cap above nine million USD', ask(1, 1, [MAX_NANO + 1, 1])],
      ['less wanted than needed', ask(5, 4)],
      ['one counter twice', { path: [TEAM, TEAM], caps: [1, 1], need: 1, want: 1 }],
      ['an empty path', { path: [], caps: [], need: 1, want: 1 }],
    ] as const)('refuse %s', (_, wrong) =>
      on(async ({ counters }) => {
        await expect(counters.take([ask(1), wrong], A, 1)).rejects.toMatchObject({ code: 'invalid' });
        expect(await sums(counters)).toEqual([0, 0, 0]);
      })(),
    );

    it('keep their sums whatever processes do', { timeout: 120_000 }, () => keepTheirSums(backend));
  });
}

/** Takes, reports, losses, returns and repeats of three processes, against what each process knows of itself. */
async function keepTheirSums(backend: Backend<'counters'>): Promise<void> {
  const step = fc.record({
    process: fc.nat(2),
    act: fc.constantFrom('take', 'report', 'lose', 'give', 'repeat'),
    amount: fc.nat(40),
    node: fc.nat(1),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) =>
      onStore(backend, async ({ counters }) => {
        const used = new Map<number, { process: number; node: number; used: number }>();
        const live = new Map<string, number>();
        const batches = [0, 0, 0];
        const processes = [A, B, boot(3)];
        const nodes = [TEAM, KEY];
        for (const { process, act, amount, node } of steps) {
          const by = processes[process]!;
          const lease = live.get(`${process} ${node}`);
          if (act === 'take') {
            batches[process]! += 1;
            const asks = [{ path: [nodes[node]!], caps: [200], need: amount, want: amount + 5 }];
            const { grants } = await counters.take(asks, by, batches[process]!);
            expect(await counters.take(asks, by, batches[process]!)).toEqual({ grants, live: expect.any(Number) });
            const [taken] = grants[0]!.leases;
            if (grants[0]!.granted > 0) live.set(`${process} ${node}`, taken!.lease);
            if (grants[0]!.granted > 0 && !used.has(taken!.lease)) used.set(taken!.lease, { process, node, used: 0 });
            const { spent, leased, unreconciled } = taken!.counter!;
            if (grants[0]!.granted > 0) expect(spent + leased + unreconciled).toBeLessThanOrEqual(200);
          } else if (act === 'lose') {
            await counters.reap(by.id);
            for (const place of [0, 1]) live.delete(`${process} ${place}`);
          } else if (lease !== undefined) {
            const known = used.get(lease)!;
            if (act === 'report') known.used += amount;
            if (act === 'give') {
              await counters.giveBack([lease], by);
              live.delete(`${process} ${node}`);
            } else await counters.report([{ lease, usedTotal: known.used }], by);
          }
        }
        for (const [place, ref] of nodes.entries()) {
          const [spent, leased] = await sums(counters, ref);
          const ofNode = [...used.values()].filter(({ node }) => node === place);
          expect(spent).toBe(ofNode.reduce((sum, lease) => sum + lease.used, 0));
          if ([0, 1, 2].every((process) => !live.has(`${process} ${place}`))) expect(leased).toBe(0);
        }
      })(),
    ),
    { numRuns: 25 },
  );
}
