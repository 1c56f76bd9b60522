import { describe, expect, it } from 'vitest';
import {
  OTHER_NAME,
  type Ledger,
  type LedgerQuery,
  type LedgerRow,
  type RollupQuery,
} from '../../../../core/ports/ledger.ts';
import { ZoneDays } from '../../../../core/ports/zone-days.ts';
import { NOON, onStore, rowOf, type Backend } from './opened-store.testkit.ts';

/** Numbers that are the same in each run. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(most: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * most);
  }
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ALL = { from: NOON - 400 * DAY, to: NOON + 2 * DAY };
/** `npm run test:many-rows` asks for ten million. */
const MANY_ROWS = Number(process.env['LEDGER_ROWS'] ?? 20_000);

async function rowsOf(ledger: Ledger, query: Partial<LedgerQuery> = {}): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = [];
  for await (const piece of ledger.rows({ ...ALL, ...query })) rows.push(...piece);
  return rows;
}

const sumsOf = async (ledger: Ledger, query: Partial<RollupQuery> = {}) =>
  ledger.rollups({ ...ALL, by: [], step: 'all', ...query });

/** The contract of `Ledger`. */
export function describeLedger(backend: Backend): void {
  const on = (test: Parameters<typeof onStore>[1]) => onStore(backend, test);

  describe(`the ledger in ${backend.name}`, () => {
    it(
      'keeps every field of a row',
      on(async ({ ledger }) => {
        const full = rowOf(1, {
          requestId: 'order-17',
          att: 3,
          kind: 'adjustment',
          key: 'ci',
          user: 'ann',
          team: 'search',
          organization: 'acme',
          config: 'production',
          asked: '@vertex/gemini',
          model: 'gemini-2.5-pro',
          src: 'estimated',
          tier: 'batch',
          geo: 'eu',
          labels: '{"env":"prod"}',
          input: 200_001,
          cacheRead: 2,
          cacheWrite5m: 3,
          cacheWrite1h: 4,
          output: 5,
          reasoning: 6,
          inputAudio: 7,
          outputAudio: 8,
          inputImage: 9,
          outputImage: 10,
          units: 11,
          searches: 12,
          nano: -9_000_000_000_000_000,
          held: 14,
          ms: 86_400_000,
          firstMs: undefined,
        });
        const hit = rowOf(2, { kind: 'hit', key: 'Schlüssel 🔑', firstMs: 0 });
        expect(await ledger.append([hit, full])).toBe(2);
        expect(await rowsOf(ledger)).toEqual([full, hit]);
      }),
    );

    it(
      'counts a row once, however often and in whatever order it arrives',
      on(async ({ ledger }) => {
        const rows = Array.from({ length: 20 }, (_, number) =>
          rowOf(number, { nano: 7, input: number, att: number % 2 }),
        );
        expect(await ledger.append(rows.slice(5, 15).toReversed())).toBe(10);
        expect(await ledger.append([...rows, ...rows])).toBe(10);
        expect(await ledger.append(rows)).toBe(0);
        expect(await rowsOf(ledger)).toEqual(rows);
        expect(await sumsOf(ledger)).toMatchObject([{ nano: 140, input: 190, attempts: 20, requests: 10 }]);
      }),
    );

    it(
      'sums by hour, day and name',
      on(async ({ ledger }) => {
        await ledger.append([
          rowOf(1, { key: 'a', model: 'm1', nano: 1 }),
          rowOf(2, { key: 'a', model: 'm2', nano: 2, at: NOON + HOUR, ms: 700 }),
          rowOf(3, { key: 'b', model: 'm1', nano: 4, at: NOON + HOUR + 1 }),
          rowOf(4, { key: 'b', model: 'm1', nano: 8, at: NOON + DAY, kind: 'hit' }),
          rowOf(4, { key: 'b', model: 'm1', nano: -3, at: NOON + DAY, kind: 'adjustment' }),
        ]);
        const nanos = async (query: Partial<RollupQuery>) =>
          (await sumsOf(ledger, query)).map(({ start, names, nano }) => [
            (start - NOON) / HOUR,
            Object.values(names).join(),
            nano,
          ]);
        expect(await nanos({ step: 'hour' })).toEqual([
          [0, '', 1],
          [1, '', 6],
          [24, '', 5],
        ]);
        expect(await nanos({ step: 'day', by: ['key'] })).toEqual([
          [-12, 'a', 3],
          [-12, 'b', 4],
          [12, 'b', 5],
        ]);
        expect(await nanos({ step: 'hour', by: ['model', 'kind'], where: { key: ['b'] } })).toEqual([
          [1, 'm1,try', 4],
          [24, 'm1,adjustment', -3],
          [24, 'm1,hit', 8],
        ]);
        expect(await nanos({ step: 'hour', from: NOON + HOUR + 2, to: NOON + HOUR + 3 })).toEqual([[1, '', 6]]);
        expect(await nanos({ where: { key: ['unused'] } })).toEqual([]);
        const [{ requests, attempts, hits, ms, firstMs } = {}] = await sumsOf(ledger, {
          where: { model: ['m1', 'm2'] },
        });
        expect([requests, attempts, hits]).toEqual([4, 3, 1]);
        expect([ms, firstMs]).toEqual([
          [0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0],
          [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]);
      }),
    );

    it(
      'reads rows in pieces, by time and name, and stops with its reader',
      on(async ({ ledger }) => {
        const rows = Array.from({ length: 30 }, (_, number) =>
          rowOf(number, { key: number % 3 === 0 ? 'a' : 'b', at: NOON + number * HOUR }),
        );
        await ledger.append(rows);
        expect(await rowsOf(ledger, { pieces: 4, where: { key: ['a'] } })).toEqual(
          rows.filter(({ key }) => key === 'a'),
        );
        expect(await rowsOf(ledger, { from: NOON + 5 * HOUR, to: NOON + 7 * HOUR, pieces: 1 })).toEqual([
          rows[5],
          rows[6],
        ]);
        for (const at of [0, 7, 23, 29])
          expect(await rowsOf(ledger, { pieces: 4, after: rows[at]! })).toEqual(rows.slice(at + 1));
        for await (const piece of ledger.rows({ ...ALL, pieces: 2 })) {
          expect(piece).toEqual(rows.slice(0, 2));
          break;
        }
        for (const pieces of [0, 1.5, 1001])
          await expect(rowsOf(ledger, { pieces })).rejects.toThrow('the rows of a piece');
      }),
    );

    it(
      'sums by catalog entry and label',
      on(async ({ ledger }) => {
        const prod = { labels: '{"env":"prod","room":"a b"}' };
        await ledger.append([
          rowOf(1, { asked: '@openai/gpt/x', nano: 1, ...prod }),
          rowOf(2, { asked: '@vertex/gemini', nano: 2, labels: '{"env":"test"}' }),
          rowOf(3, { asked: '@openai/gpt', nano: 4 }),
          rowOf(4, { asked: 'plain', nano: 8, ...prod, at: NOON - DAY }),
        ]);
        await ledger.dropBefore('2026-11-22');
        const nanos = async (query: Partial<RollupQuery>) =>
          (await sumsOf(ledger, query)).map(({ names, labels, nano }) => [
            [...Object.values(names), ...Object.values(labels)].join(),
            nano,
          ]);
        expect(await nanos({ by: ['provider'] })).toEqual([
          ['', 8],
          ['openai', 5],
          ['vertex', 2],
        ]);
        expect(await nanos({ labels: ['env'] })).toEqual([
          ['', 4],
          ['prod', 9],
          ['test', 2],
        ]);
        expect(await nanos({ by: ['provider'], labels: ['room', 'env'], where: { provider: ['openai'] } })).toEqual([
          ['openai,,', 4],
          ['openai,a b,prod', 1],
        ]);
        expect(await nanos({ whereLabels: { env: ['prod', ''] } })).toEqual([['', 13]]);
        await expect(sumsOf(ledger, { labels: ['a', 'b', 'c', 'd'] })).rejects.toMatchObject({ code: 'invalid' });
      }),
    );

    it(
      'adds up to the rows in days of any time zone of whole hours, to the nano-USD',
      on(async ({ ledger }) => {
        const random = new Random(41);
        // Days on which clocks change: in New York, in Auckland and Santiago, in Berlin.
        const [first, last] = [Date.UTC(2026, 2, 7), Date.UTC(2026, 9, 27)];
        const begun = ['2026-03-07', '2026-04-04', '2026-09-26', '2026-10-24'].map((day) => Date.parse(day));
        const rows = Array.from({ length: 3_000 }, (_, number) =>
          rowOf(number, {
            at: begun[number % begun.length]! + random.below(3 * DAY),
            nano: random.below(9_000_000_000) - 1_000_000_000,
            team: `t${random.below(3)}`,
          }),
        );
        for (let from = 0; from < rows.length; from += 1_000) await ledger.append(rows.slice(from, from + 1_000));
        for (const zone of ['America/New_York', 'Europe/Berlin', 'Pacific/Auckland', 'America/Santiago', 'UTC']) {
          const dates = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' });
          const expected = Map.groupBy(rows, ({ at, team }) => `${dates.format(at)} ${team}`);
          const found = await ledger.rollups({ from: first - DAY, to: last + DAY, step: 'day', by: ['team'], zone });
          expect(
            found.map(({ start, names, nano, day }) => [`${dates.format(start)} ${names.team}`, nano, day]),
          ).toEqual(
            [...expected]
              .map(([name, of]) => [name, of.reduce((sum, { nano }) => sum + nano, 0), undefined])
              .toSorted(([one], [other]) => (one! < other! ? -1 : 1)),
          );
        }
      }),
    );

    it(
      'has UTC days for a time zone where hours are gone, each in one month',
      on(async ({ ledger }) => {
        const rows = Array.from({ length: 240 }, (_, hour) =>
          rowOf(hour, { at: Date.UTC(2026, 9, 27) + hour * HOUR, nano: 2 ** (hour % 40) }),
        );
        await ledger.append(rows);
        while (await ledger.foldOldest('2026-11-02'));
        for (const zone of ['America/New_York', 'Asia/Tokyo']) {
          const local = (text: string): number => new ZoneDays(zone).startOf(Date.parse(text));
          const daysOf = (from: string, to: string) =>
            ledger.rollups({ from: local(from), to: local(to), step: 'day', by: [], zone });
          const all = [...(await daysOf('2026-10-01', '2026-11-01')), ...(await daysOf('2026-11-01', '2026-12-01'))];
          expect(all.reduce((sum, { nano }) => sum + nano, 0)).toBe(rows.reduce((sum, { nano }) => sum + nano, 0));
          const utc = all.filter(({ day }) => day === 'utc');
          expect(utc.map(({ start, nano }) => [new Date(start).toISOString().slice(0, 10), nano])).toEqual(
            [...Map.groupBy(rows.slice(0, 144), ({ at }) => new Date(at).toISOString().slice(0, 10))].map(
              ([date, of]) => [date, of.reduce((sum, { nano }) => sum + nano, 0)],
            ),
          );
          expect(all.filter(({ day }) => day === 'cut')).toHaveLength(1);
          expect(all.findIndex(({ day }) => day === 'cut')).toBe(6);
          const [october] = await ledger.rollups({
            from: local('2026-10-01'),
            to: local('2026-11-01'),
            step: 'all',
            by: [],
            zone,
          });
          expect(october?.requests).toBe(120);
        }
        await expect(ledger.rollups({ ...ALL, step: 'day', by: [], zone: 'Nowhere/City' })).rejects.toThrow();
      }),
    );

    it(
      'sums three years by the days of a time zone, most of them without rows',
      on(async ({ ledger }) => {
        const months = Array.from({ length: 37 }, (_, month) => Date.UTC(2023, 10 + month, 22, 23, 30));
        const rows = months.map((at, number) =>
          rowOf(number, { at, nano: 2 ** number, asked: '@gpt/m', labels: `{"env":"${number % 2 ? 'a' : 'b'}"}` }),
        );
        await ledger.append(rows);
        await ledger.dropBefore('2026-10-01');
        while (await ledger.foldOldest('2026-11-01'));
        const days = new ZoneDays('Asia/Tokyo');
        const query = {
          from: days.startOf(Date.UTC(2023, 10, 1)),
          to: days.startOf(Date.UTC(2026, 11, 1)),
          step: 'day',
          by: ['provider'],
          labels: ['env'],
          zone: 'Asia/Tokyo',
        } as const;
        const found = await ledger.rollups(query);
        expect(found.map(({ nano, labels, names }) => [nano, labels['env'], names.provider])).toEqual(
          rows.map(({ nano }, number) => [nano, number % 2 ? 'a' : 'b', 'gpt']),
        );
        // 23:30 of UTC is the next day in Tokyo, where hours are kept.
        expect(found.map(({ day }) => day)).toEqual([...Array.from({ length: 36 }, () => 'utc'), undefined]);
        expect(found.at(-1)!.start).toBe(Date.UTC(2026, 10, 22, 15));
      }),
    );

    it(
      'keeps labels apart whatever their names and values',
      on(async ({ ledger }) => {
        const labels: readonly Readonly<Record<string, string>>[] = [
          { env: 'a\nb', constructor: 'c' },
          { env: 'a', constructor: 'b\nc' },
          { env: '","' },
          {},
        ];
        await ledger.append(labels.map((of, number) => rowOf(number, { at: NOON, labels: JSON.stringify(of) })));
        const found = await sumsOf(ledger, { labels: ['env', 'constructor'] });
        expect(new Set(found.map(({ labels: of, requests }) => [of['env'], of['constructor'], requests]))).toEqual(
          new Set([
            ['', '', 1],
            ['","', '', 1],
            ['a', 'b\nc', 1],
            ['a\nb', 'c', 1],
          ]),
        );
        // A caller must not keep its cost out of the ledger by the longest texts that JSON makes of its labels.
        const names = ['a', 'b', 'c'].map((name) => name.repeat(64));
        const longest = Object.fromEntries(names.map((name) => [name, '\u0001'.repeat(128)]));
        expect(await ledger.append([rowOf(9, { at: NOON, labels: JSON.stringify(longest) })])).toBe(1);
      }),
    );

    it(
      'refuses an answer of more sums than the query takes, in any step and zone',
      on(async ({ ledger }) => {
        // Five labels on each of six days.
        const rows = Array.from({ length: 30 }, (_, number) =>
          rowOf(number, { at: NOON - Math.floor(number / 5) * DAY, labels: `{"env":"${number % 5}"}` }),
        );
        await ledger.append(rows);
        for (const [more, count] of [
          [{}, 5],
          [{ step: 'day' }, 30],
          [{ step: 'day', zone: 'Asia/Tokyo' }, 30],
        ] as const) {
          const query = { ...more, labels: ['env'] };
          expect(await sumsOf(ledger, { ...query, most: count })).toHaveLength(count);
          await expect(sumsOf(ledger, { ...query, most: count - 1 })).rejects.toMatchObject({ code: 'invalid' });
        }
      }),
    );

    it(
      'drops whole days and keeps their sums',
      on(async ({ ledger }) => {
        const rows = [-2, -1, 0].map((day, number) =>
          rowOf(number, { at: NOON + day * DAY, nano: 10 ** number, key: 'a' }),
        );
        await ledger.append(rows);
        expect(await ledger.days()).toEqual(['2026-11-20', '2026-11-21', '2026-11-22']);
        expect(await ledger.dropBefore('2026-11-22')).toBe(2);
        expect(await ledger.dropBefore('2026-11-22')).toBe(0);
        await expect(ledger.append([rows[0]!])).rejects.toMatchObject({ code: 'invalid' });
        expect([await ledger.days(), await rowsOf(ledger)]).toEqual([['2026-11-22'], [rows[2]]]);
        expect(await sumsOf(ledger, { step: 'day', by: ['key'] })).toMatchObject([
          { nano: 1 },
          { nano: 10 },
          { nano: 100 },
        ]);
      }),
    );

    it(
      'folds the hours of old days, one day at a time, and keeps their sums',
      on(async ({ ledger }) => {
        const rows = [-2, -1, 0].flatMap((day, number) =>
          [0, 5].map((hour) =>
            rowOf(number, { at: NOON + day * DAY + hour * HOUR, att: hour, nano: 10 ** number, key: 'a', ms: 700 }),
          ),
        );
        await ledger.append(rows);
        const all = await sumsOf(ledger);
        const days = await sumsOf(ledger, { step: 'day', by: ['key', 'src'] });
        const hours = async () => (await sumsOf(ledger, { step: 'hour' })).map(({ start }) => (start - NOON) / HOUR);
        expect(await ledger.foldOldest('2026-11-22')).toBe(true);
        expect(await hours()).toEqual([-60, -24, -19, 0, 5]);
        expect(await ledger.foldOldest('2026-11-22')).toBe(true);
        expect(await ledger.foldOldest('2026-11-22')).toBe(false);
        expect(await hours()).toEqual([-60, -36, 0, 5]);
        expect([await sumsOf(ledger), await sumsOf(ledger, { step: 'day', by: ['key', 'src'] })]).toEqual([all, days]);
        expect(await rowsOf(ledger)).toEqual(rows);
        // A late row of a folded day counts, and the day is dropped like any other.
        await ledger.append([rowOf(9, { at: NOON - DAY, nano: 500, key: 'a' })]);
        expect(await ledger.dropBefore('2026-11-22')).toBe(2);
        expect(await sumsOf(ledger, { step: 'day' })).toMatchObject([{ nano: 2 }, { nano: 520 }, { nano: 200 }]);
      }),
    );

    it(
      'forgets the sums of dropped days when their time is over, and no others',
      on(async ({ ledger }) => {
        await ledger.append(
          [-3, -2, -1, 0].map((day, number) => rowOf(number, { at: NOON + day * DAY, nano: 10 ** number })),
        );
        await ledger.dropBefore('2026-11-21');
        expect(await ledger.forgetSums('2026-11-20')).toBe(1);
        expect(await ledger.forgetSums('2026-11-20')).toBe(0);
        expect(await sumsOf(ledger)).toMatchObject([{ nano: 1110 }]);
        await ledger.forgetSums('2026-11-30');
        expect(await sumsOf(ledger)).toMatchObject([{ nano: 1100 }]);
      }),
    );

    it(
      'distinguishes a bounded number of names a day, and counts all others together',
      on(async ({ ledger }) => {
        const rows = Array.from({ length: 9 }, (_, number) => rowOf(number, { model: `m${number}`, nano: 1 }));
        await ledger.append(rows);
        await ledger.append([rowOf(10, { model: 'm0', nano: 1 }), rowOf(11, { model: 'm0', nano: 1, at: NOON + DAY })]);
        expect((await rowsOf(ledger)).map(({ model }) => model)).toEqual([
          'm0',
          'm1',
          'm2',
          'm3',
          'm4',
          ...Array.from({ length: 4 }, () => OTHER_NAME),
          'm0',
          'm0',
        ]);
        const sums = await sumsOf(ledger, { by: ['model'] });
        expect(Object.fromEntries(sums.map(({ names, nano }) => [names.model, nano]))).toEqual({
          m0: 3,
          m1: 1,
          m2: 1,
          m3: 1,
          m4: 1,
          [OTHER_NAME]: 4,
        });
      }),
    );

    it(
      'takes none of the rows if one is wrong',
      on(async ({ ledger }) => {
        const wrong: Partial<LedgerRow>[] = [
          { req: 'r1' },
          { nano: 0.5 },
          { input: -1 },
          { at: NOON * 1000 },
          { att: 70_000 },
          { key: 'k'.repeat(257) },
        ];
        for (const part of wrong)
          await expect(ledger.append([rowOf(1), rowOf(2, part)])).rejects.toMatchObject({ code: 'invalid' });
        expect(await rowsOf(ledger)).toEqual([]);
      }),
    );

    it(
      'sums many rows exactly, whole and by day, model and key',
      { timeout: 20 * 60_000 },
      on(async ({ ledger }) => {
        const [days, models, keys] = [5, 4, 3];
        const rows = MANY_ROWS;
        const expected = new Map<string, bigint>();
        let total = 0n;
        for (let first = 0; first < rows; first += 500) {
          const batch = Array.from({ length: Math.min(500, rows - first) }, (_, index) => {
            const number = first + index;
            const row = rowOf(number, {
              at: NOON - (number % days) * DAY,
              model: `m${number % models}`,
              key: `k${number % keys}`,
              // Up to 0.0008 USD, with every last digit in use.
              nano: 1 + ((number * 7919) % 800_000),
              input: number % 1000,
            });
            const name = [row.at - 12 * HOUR, row.model, row.key].join();
            expected.set(name, (expected.get(name) ?? 0n) + BigInt(row.nano));
            total += BigInt(row.nano);
            return row;
          });
          expect(await ledger.append(batch)).toBe(batch.length);
        }
        const [sum] = await sumsOf(ledger);
        expect([sum?.attempts, BigInt(sum?.nano ?? 0)]).toEqual([rows, total]);
        const cells = await sumsOf(ledger, { step: 'day', by: ['model', 'key'] });
        const found = cells.map(({ start, names, nano }) => [[start, names.model, names.key].join(), BigInt(nano)]);
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
      }),
    );

    it(
      'stays at the largest exact sum, and says so',
      on(async ({ ledger }) => {
        const most = rowOf(1, { nano: Number.MAX_SAFE_INTEGER });
        await ledger.append([most]);
        expect(await sumsOf(ledger)).toMatchObject([{ nano: Number.MAX_SAFE_INTEGER, saturated: [] }]);
        await ledger.append([rowOf(2, { nano: 2, input: 7 })]);
        const sums = await sumsOf(ledger);
        expect(sums).toMatchObject([{ nano: Number.MAX_SAFE_INTEGER, input: 7, saturated: ['nano'] }]);
      }),
    );

    it(
      'takes rows whose sum no integer holds, and goes on',
      on(async ({ ledger }) => {
        const rows = Array.from({ length: 1100 }, (_, number) =>
          rowOf(number, { nano: Number.MAX_SAFE_INTEGER, key: number % 2 ? 'k' : 'l' }),
        );
        expect(await ledger.append(rows)).toBe(1100);
        expect(await ledger.append([rowOf(2000, { nano: Number.MAX_SAFE_INTEGER })])).toBe(1);
        expect(await ledger.append([rowOf(2001, { key: 'other', nano: 7 })])).toBe(1);
        expect(await sumsOf(ledger, { where: { key: ['other'] } })).toMatchObject([{ nano: 7 }]);
        expect(await sumsOf(ledger)).toMatchObject([{ nano: Number.MAX_SAFE_INTEGER, saturated: ['nano'] }]);
      }),
    );
  });
}
