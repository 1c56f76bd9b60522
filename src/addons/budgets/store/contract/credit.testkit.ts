import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CREDIT_PARTS,
  creditOf,
  LEASE_MS,
  type Boot,
  type CounterRef,
  type Counters,
  type CreditAnswer,
  type CreditUse,
  type LeaseState,
} from '../../../../core/ports/counters.ts';
import type { FakeClock } from '../../../../plugin/testing/index.ts';
import { ANN, NOON, onStore, type Backend } from './opened-store.testkit.ts';

const CAP = 1000;
const HOUR_MS = 3_600_000;
const TEAM: CounterRef = { node: 'team/search', period: NOON };
const OTHER: CounterRef = { node: 'team/ads', period: NOON };
const TOMORROW: CounterRef = { ...TEAM, period: NOON + 86_400_000 };

interface Ask {
  readonly of?: CounterRef;
  readonly need: number;
  readonly want?: number;
  readonly cap?: number;
  /** The amount that it has used, on credit or on its lease. */
  readonly used?: number;
}

/** A process of a fleet, which tells the store what the store has told it. */
class Member {
  readonly boot: Boot;
  readonly #counters: Counters;
  use: CreditUse = { parts: 0, knows: 0 };
  leases = new Map<CounterRef['node'], LeaseState>();
  #batch = 0;

  constructor(counters: Counters, number: number) {
    this.#counters = counters;
    this.boot = {
      id: number.toString(16).repeat(32),
      host: 'test',
      role: 'single',
      version: '1.0.0',
      configHash: '',
      startedAt: NOON,
    };
  }

  /** Asks for credit, and for room of one counter. */
  async ask({ of = TEAM, need, want = need, cap = CAP, used = 0 }: Partial<Ask> = {}) {
    const isAsked = need !== undefined;
    const covers = [{ lease: this.leases.get(of.node)?.lease ?? 0, total: used }];
    const requests = isAsked ? [{ path: [of], caps: [cap], need, want: want ?? need, covers }] : [];
    const { grants, credit } = await this.#counters.take(requests, this.boot, (this.#batch += 1), this.use);
    const { parts, knows, changes } = credit as CreditAnswer;
    this.use = { parts, knows };
    const lease = grants[0]?.leases[0];
    if (lease && lease.lease !== 0) this.leases.set(of.node, lease);
    return {
      granted: grants[0]?.granted ?? 0,
      lease,
      parts,
      changes: changes.map(({ node, period, isTight }) => [`${node} ${period}`, isTight]),
    };
  }
}

const nameOf = ({ node, period }: CounterRef): string => `${node} ${period}`;

/** The contract of `Counters` in the store of a fleet, which gives standing credit. */
export function describeCredit(backend: Backend<'counters'>): void {
  /** Runs a test with processes that all have their parts. */
  const fleet = (size: number, test: (all: readonly Member[], counters: Counters, clock: FakeClock) => Promise<void>) =>
    onStore(backend, async ({ counters }, clock) => {
      const all = Array.from({ length: size }, (_, at) => new Member(counters, at + 1));
      for (let round = 0; round < 6; round += 1) for (const member of all) await member.ask();
      await test(all, counters, clock);
    });

  describe(`standing credit in ${backend.name}`, () => {
    it(
      'is given to several processes in equal parts, and to none alone',
      onStore(backend, async ({ counters }) => {
        const [a, b, c] = [1, 2, 3].map((number) => new Member(counters, number));
        const parts: number[] = [];
        for (const member of [a!, b!, a!, c!, a!, b!, a!, b!, c!]) parts.push((await member.ask()).parts);
        const [half, third] = [CREDIT_PARTS / 2, Math.floor(CREDIT_PARTS / 3)];
        // A third process gets its part once the others have said that they use less.
        expect(parts).toEqual([0, half, half, 0, third, third, third, third, third]);
      }),
    );

    it(
      'is asked for, and not given unasked',
      fleet(2, async ([a], counters) => {
        expect(await counters.take([], a!.boot, 100)).toEqual({ grants: [], live: 2 });
      }),
    );

    it(
      'ends where much of a cap is taken: those hear of it that have never touched the counter, in the order of the changes',
      fleet(3, async ([a, b, c]) => {
        expect((await a!.ask({ need: 700 })).granted).toBe(700);
        expect((await b!.ask()).changes).toEqual([]);
        await a!.ask({ need: 150 });
        await a!.ask({ of: OTHER, need: 900 });
        const both = [TEAM, OTHER].map((ref) => [nameOf(ref), true]);
        expect((await b!.ask()).changes).toEqual(both);
        expect((await b!.ask()).changes).toEqual([]);
        // Its own counter is among them.
        expect((await c!.ask({ need: 1 })).changes).toEqual(both);
      }),
    );

    it(
      'is kept out of grants until all processes know that it has ended',
      fleet(4, async ([a, b, c, d]) => {
        // A quarter of 100 for each.
        expect((await a!.ask({ need: 801, want: 1000 })).granted).toBe(900);
        expect((await a!.ask({ need: 1, want: 1000 })).granted).toBe(25);
        for (const member of [b!, c!]) for (let time = 0; time < 2; time += 1) await member.ask();
        expect((await a!.ask({ need: 1, want: 1000 })).granted).toBe(50);
        await d!.ask();
        expect((await a!.ask({ need: 1 })).granted).toBe(0);
        await d!.ask();
        expect((await a!.ask({ need: 1, want: 1000 })).granted).toBe(25);
      }),
    );

    it(
      'becomes a lease by a cover, and counts as long as the lease has ended that should cover it',
      fleet(2, async ([a, b], counters) => {
        const { lease } = await b!.ask({ need: 10, used: 40 });
        expect([lease!.granted, (await counters.read([TEAM]))[0]!.leased]).toEqual([50, 50]);
        await a!.ask({ need: 850 });
        await a!.ask();
        await counters.reap(b!.boot.id);
        await b!.ask();
        // It knows of the change, and its words do not hold: 40 are missing in the store.
        expect(await b!.ask({ need: 1, used: 90 })).toMatchObject({ granted: 0 });
        expect((await a!.ask({ need: 1, want: 100 })).granted).toBe(50);
      }),
    );

    it(
      'ends where a report or an adjustment takes a counter near its cap, too',
      fleet(2, async ([a, b], counters) => {
        const { lease } = await a!.ask({ need: 100 });
        await counters.report([{ lease: lease!.lease, usedTotal: 801 }], a!.boot);
        await counters.adjust({ ...OTHER, id: 'x', of: 'spent', by: 1, why: '' }, ANN);
        expect((await b!.ask()).changes).toEqual([TEAM, OTHER].map((ref) => [nameOf(ref), true]));
        const [team, other] = await counters.read([TEAM, OTHER]);
        expect([team!.tight, other!.tight]).toMatchObject([{ cap: CAP }, { cap: 0 }]);
        expect(other!.tight!.change).toBeGreaterThan(team!.tight!.change);
      }),
    );

    it(
      'returns a minute after much of the cap is free again, and ends for a lower cap',
      fleet(2, async ([a, b], counters, clock) => {
        const { lease } = await a!.ask({ need: 850 });
        await counters.giveBack([lease!.lease], a!.boot);
        a!.leases.clear();
        await b!.ask({ need: 1 });
        await clock.advance(59_999);
        for (const member of [a!, b!, a!, b!]) await member.ask();
        expect((await a!.ask({ need: 1 })).changes).toEqual([]);
        await clock.advance(1);
        expect((await a!.ask({ need: 1 })).changes).toEqual([[nameOf(TEAM), false]]);
        expect((await b!.ask({ need: 1, cap: CAP / 2 })).changes).toEqual([[nameOf(TEAM), true]]);
      }),
    );

    it(
      'stays with a silent process for the period of its last call, until all it used is in the store',
      fleet(2, async ([a, b], counters, clock) => {
        await clock.advance(2 * 86_400_000);
        await counters.reap();
        const later = { ...TOMORROW, period: TOMORROW.period + 86_400_000 };
        // It was silent when this period began: only the part of the first one is kept.
        expect((await a!.ask({ of: later, need: 900, want: 1000 })).granted).toBe(950);
        a!.leases.clear();
        // By now the first one is alone and has no credit itself.
        expect((await a!.ask({ need: 900, want: 1000 })).granted).toBe(950);
        expect((await a!.ask({ need: 1, want: 1000 })).granted).toBe(0);
        await counters.giveBack([], b!.boot, 0);
        expect((await a!.ask({ need: 1, want: 1000 })).granted).toBe(50);
      }),
    );

    it('is kept for a process although the clock of the store has gone back to before the period', async () => {
      let behind = 0;
      const jumping: typeof backend = {
        ...backend,
        open: ({ clock, ...parts }) =>
          backend.open({ ...parts, clock: { ...clock, wall: () => clock.wall() - behind } }),
      };
      await onStore(jumping, async ({ counters }) => {
        const [a, b] = [1, 2].map((number) => new Member(counters, number)) as [Member, Member];
        for (let round = 0; round < 3; round += 1) for (const member of [a, b]) await member.ask();
        behind = HOUR_MS;
        await a.ask();
        expect((await b.ask({ need: 900, want: 1000 })).granted).toBe(900);
        expect((await b.ask({ need: 1, want: 1000 })).granted).toBe(50);
        expect(creditOf(CAP, a.use.parts)).toBe(50);
      })();
    });

    it(
      'is given to a process that starts after the counter of the last change has been removed',
      fleet(2, async ([a, b], counters, clock) => {
        const { lease } = await a!.ask({ need: 900 });
        await counters.giveBack([lease!.lease], a!.boot);
        a!.leases.clear();
        await clock.advance(10_000);
        expect(await counters.forget(5000)).toBe(1);
        const c = new Member(counters, 3);
        for (let round = 0; round < 3; round += 1) for (const member of [a!, b!, c]) await member.ask();
        expect(c.use.parts).toBe(Math.floor(CREDIT_PARTS / 3));
      }),
    );

    it(
      'is none of a process that has given it back',
      fleet(2, async ([a, b], counters, clock) => {
        await counters.giveBack([], b!.boot, 0);
        await clock.advance(LEASE_MS + 1);
        expect((await a!.ask()).parts).toBe(0);
      }),
    );

    it(
      'stands in the answer of a repeated call again, which changes nothing else',
      fleet(2, async ([a], counters) => {
        const request = { path: [TEAM], caps: [CAP], need: 10, want: 10 };
        const first = await counters.take([request], a!.boot, 100, a!.use);
        expect(first.credit).toMatchObject({ parts: CREDIT_PARTS / 2, isWhole: true });
        expect(await counters.take([request], a!.boot, 100, a!.use)).toEqual(first);
        expect((await counters.read([TEAM]))[0]).toMatchObject({ leased: 10 });
      }),
    );

    it.each([
      ['parts of more than the whole', { parts: CREDIT_PARTS + 1, knows: 0 }],
      ['a negative change', { parts: 0, knows: -1 }],
    ] as const)('refuses %s', (_, use) =>
      fleet(1, async ([a], counters) => {
        await expect(counters.take([], a!.boot, 100, use)).rejects.toMatchObject({ code: 'invalid' });
      })(),
    );

    it('and leases together never exceed a cap, whatever processes use and hear', { timeout: 120_000 }, () =>
      neverExceed(backend),
    );
  });
}

/**
 * Processes that use all they may, as they know it, at once or never, while the clock of the store may jump. Nothing costs more than its
 * reserve, so the cap itself is the bound.
 */
async function neverExceed(backend: Backend<'counters'>): Promise<void> {
  const step = fc.record({
    member: fc.nat(2),
    act: fc.constantFrom('ask', 'ask', 'use', 'use', 'hear', 'wait', 'jump'),
    amount: fc.integer({ min: 1, max: 400 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) =>
      onStore(backend, async ({ counters }, clock) => {
        const all = [1, 2, 3].map((number) => ({ member: new Member(counters, number), used: 0, isTight: false }));
        const hear = ({ changes }: { readonly changes: readonly unknown[][] }, one: (typeof all)[number]): void => {
          for (const [, isTight] of changes) one.isTight = isTight === true;
        };
        for (const { member, act, amount } of steps) {
          const one = all[member]!;
          if (act === 'ask') hear(await one.member.ask({ need: 1, want: amount, used: one.used }), one);
          else if (act === 'hear') hear(await one.member.ask({ need: 0, used: one.used }), one);
          else if (act === 'wait') await clock.advance(7000);
          else if (act === 'jump') await clock.advance(HOUR_MS);
          else {
            const credit = one.isTight ? 0 : creditOf(CAP, one.member.use.parts);
            const room = (one.member.leases.get(TEAM.node)?.granted ?? 0) + credit - one.used;
            one.used += Math.max(0, Math.min(room, amount));
          }
          expect(all.reduce((sum, { used }) => sum + used, 0)).toBeLessThanOrEqual(CAP);
        }
      })(),
    ),
    { numRuns: 20 },
  );
}
