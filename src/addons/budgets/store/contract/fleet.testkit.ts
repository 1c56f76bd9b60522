import { describe, expect, it } from 'vitest';
import { LEASE_MS, type Boot } from '../../../../core/ports/counters.ts';
import type { OutboxEvent } from '../../../../core/ports/outbox.ts';
import { NOON, onStore, type Backend } from './opened-store.testkit.ts';

const boot = (digit: number): Boot => ({
  id: digit.toString(16).repeat(32),
  host: `host-${digit}`,
  role: 'single',
  version: '1.0.0',
  configHash: '',
  startedAt: NOON + digit,
});
const shown = (configHash: string) => ({ configHash, version: 3, refused: undefined });
const event = (id: string, to = 'ops'): OutboxEvent => ({ id, to, body: `{"id":"${id}"}` });

/** The contract of what several gateways on one store have of each other: `Boots`, `Claims`, `Outbox`. */
export function describeFleet(backend: Backend<'boots' | 'claims' | 'outbox' | 'counters'>): void {
  const on = (test: Parameters<typeof onStore<'boots' | 'claims' | 'outbox' | 'counters'>>[1]) =>
    onStore(backend, test);

  describe(`gateways on one store in ${backend.name}`, () => {
    it(
      'see each other for as long as they report, with what they show of themselves',
      on(async ({ boots, counters }, clock) => {
        expect(await boots.seen(boot(1), shown('a'))).toEqual({ gateways: 1, hashes: 1 });
        await clock.advance(LEASE_MS / 2);
        const refused = { at: NOON, text: 'server.yaml:1:1: no' };
        expect(await boots.seen(boot(2), { ...shown('b'), refused })).toEqual({ gateways: 2, hashes: 2 });
        expect(await boots.live()).toEqual([
          {
            id: boot(1).id,
            host: 'host-1',
            role: 'single',
            release: '1.0.0',
            startedAt: NOON + 1,
            seenAt: NOON,
            ...shown('a'),
          },
          {
            id: boot(2).id,
            host: 'host-2',
            role: 'single',
            release: '1.0.0',
            startedAt: NOON + 2,
            seenAt: NOON + LEASE_MS / 2,
            configHash: 'b',
            version: 3,
            refused,
          },
        ]);
        // A report of leases is no sign of the gateway itself: what is left of an ended one is reported in its name.
        await clock.advance(LEASE_MS / 2);
        await counters.report([], boot(1));
        expect((await boots.live()).map(({ host }) => host)).toEqual(['host-2']);
        await boots.ended(boot(2).id);
        expect(await boots.live()).toEqual([]);
        expect(await boots.seen(boot(2), shown('c'))).toEqual({ gateways: 1, hashes: 1 });
      }),
    );

    it(
      'claim a name for one holder, until it ends or is given up',
      on(async ({ claims }, clock) => {
        const wishes = ['a', 'b', 'c'].map((holder) => ({
          name: 'caretaker',
          holder,
          text: `by ${holder}`,
          ms: 1_000,
        }));
        const taken = await Promise.all(wishes.map((wish) => claims.take(wish)));
        const [{ holder: first } = { holder: '' }] = taken;
        expect(taken).toEqual(wishes.map(() => ({ holder: first, text: `by ${first}`, until: NOON + 1_000 })));
        await clock.advance(999);
        const other = wishes.find(({ holder }) => holder !== first)!;
        expect(await claims.take(other)).toMatchObject({ holder: first });
        expect(await claims.take({ ...other, holder: first, text: 'again' })).toMatchObject({ until: NOON + 1_999 });
        await clock.advance(1_000);
        expect(await claims.find('caretaker')).toBeUndefined();
        expect(await claims.take(other)).toMatchObject({ holder: other.holder, until: NOON + 2_999 });
        await claims.end('caretaker', first);
        expect(await claims.find('caretaker')).toMatchObject({ holder: other.holder, text: other.text });
        await claims.end('caretaker');
        expect(await claims.find('caretaker')).toBeUndefined();
      }),
    );

    it(
      'keep values of plugins, of which the last one counts',
      on(async ({ claims }) => {
        const wish = { name: "plugin it's a", holder: 'plugin', text: '{"a":1}', ms: 1_000 };
        await claims.take(wish);
        await claims.take({ ...wish, text: String.raw`"\u0000"` });
        expect(await claims.find(wish.name)).toMatchObject({ text: String.raw`"\u0000"` });
        await claims.end(wish.name);
        expect(await claims.find(wish.name)).toBeUndefined();
      }),
    );

    it(
      'take each event of the outbox once, until it is delivered or its time has ended',
      on(async ({ outbox }, clock) => {
        await outbox.add([event('1'), event('2'), event('1', 'other')]);
        await outbox.add([event('1'), event('3')]);
        expect(await outbox.waiting()).toEqual(
          new Map([
            ['ops', 3],
            ['other', 1],
          ]),
        );
        const taken = await Promise.all([1, 2].map(() => outbox.take(['ops'], 2, 1_000)));
        expect(
          taken
            .flat()
            .map(({ id }) => id)
            .sort(),
        ).toEqual(['1', '2', '3']);
        expect(taken.flat()).toContainEqual({ ...event('1'), tries: 1 });
        await outbox.done([event('1')]);
        await outbox.again(event('2'), 5_000);
        await clock.advance(1_000);
        expect(await outbox.take(['ops'], 10, 1_000)).toEqual([{ ...event('3'), tries: 2 }]);
        await clock.advance(4_000);
        expect(
          (await outbox.take(['ops', 'other', 'none'], 10, 1_000)).map(({ id, to, tries }) => [id, to, tries]),
        ).toEqual([
          ['2', 'ops', 2],
          ['1', 'other', 1],
          ['3', 'ops', 3],
        ]);
      }),
    );

    it.each([
      ['a claim without a name', ({ claims }) => claims.take({ name: '', holder: 'a', ms: 1 })],
      ['a claim for no time', ({ claims }) => claims.take({ name: 'a', holder: 'a', ms: 0 })],
      ['a gateway without an id', ({ boots }) => boots.seen({ ...boot(1), id: 'no' }, shown('a'))],
      ['an event without a body', ({ outbox }) => outbox.add([{ ...event('1'), body: '' }])],
      ['a thousand events at once', ({ outbox }) => outbox.take(['ops'], 1_000, 1)],
    ] as [string, (store: Parameters<Parameters<typeof on>[0]>[0]) => Promise<unknown>][])('refuse %s', (_, wrong) =>
      on(async (store) => {
        await expect(wrong(store)).rejects.toMatchObject({ code: 'invalid' });
      })(),
    );
  });
}
