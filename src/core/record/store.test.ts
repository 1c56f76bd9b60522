import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCaller, createConfig, createTarget } from '../../plugin/testing/index.ts';
import { UpstreamError, type ReplyEnd } from '../../plugin/index.ts';
import type { Exchange } from '../kernel/index.ts';
import { boundRecord } from './bounded-record.ts';
import { anthropic, attemptOf, createStillClock, endOf, exchangeOf, tryOf, WALL } from './exchange.testkit.ts';
import { recordOf } from './make-record.ts';
import type { RecordPlace, RecordQuery } from './record-query.ts';
import { RecordStore, type OpenRequest } from './store.ts';

function createBench(capacity: number) {
  const clock = createStillClock();
  const store = new RecordStore(clock);
  store.resize(capacity);
  const begin = (id: string, parts: Parameters<typeof exchangeOf>[0] = {}): OpenRequest => {
    const request = { exchange: exchangeOf({ id, ...parts }), receivedAt: WALL };
    store.begin(request);
    return request;
  };
  const end = (request: OpenRequest): void => {
    const times = { endedAt: clock.now(), receivedAt: request.receivedAt };
    store.end(request);
    store.keep(recordOf(request.exchange, endOf(), times));
  };
  const ids = (query: Partial<Parameters<RecordStore['list']>[0]> = {}): string[] =>
    store.list({ limit: 1000, ...query }).map((line) => (line as { request_id: string }).request_id);
  return { clock, store, begin, end, ids, pass: (id: string, parts = {}) => end(begin(id, parts)) };
}

describe('the store of records', () => {
  it('contains the latest records, latest first, after any resize', () => {
    const step = fc.oneof(
      { weight: 10, arbitrary: fc.constant('request' as const) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 8 }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { store, pass, ids } = createBench(5);
        let [expected, capacity]: [string[], number] = [[], 5];
        for (const [index, one] of steps.entries()) {
          if (typeof one === 'number') store.resize((capacity = one));
          else {
            pass(`r${index}`);
            expected.unshift(`r${index}`);
          }
          expected = expected.slice(0, capacity);
          expect(ids()).toEqual(expected);
        }
      }),
    );
  });

  it('has the same record in the place of an older one as in a new place', () => {
    const request = fc.record({
      attempts: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
      keyId: fc.option(fc.string({ minLength: 1, maxLength: 5 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(request, { minLength: 2, maxLength: 8 }), (requests) => {
        const reused = createBench(1);
        for (const { attempts, keyId } of requests) {
          const fresh = createBench(1);
          const tries = (count: number) => Array.from({ length: count }, () => tryOf(3, 5));
          const parts = {
            attempts: attempts.map((count) => attemptOf({ tries: tries(count) })),
            caller: keyId === undefined ? undefined : createCaller({ keyId }),
          };
          fresh.pass('one', parts);
          reused.pass('one', parts);
          expect(reused.store.find('one')).toEqual(fresh.store.find('one'));
          expect(reused.ids({ key: [keyId ?? 'none'] })).toEqual(fresh.ids({ key: [keyId ?? 'none'] }));
        }
      }),
    );
  });

  it('lists running requests before ended ones, in their current state', () => {
    const { clock, store, begin, end, pass, ids } = createBench(10);
    pass('over');
    const first = begin('first');
    begin('second');
    expect(ids()).toEqual(['second', 'first', 'over']);
    expect(store.find('first')).toMatchObject({ state: 'running', duration_ms: 0, attempts: [] });
    first.exchange.attempts.push(attemptOf({ tries: [tryOf(3, undefined, { status: undefined })] }));
    clock.set(70);
    expect(store.find('first')).toMatchObject({
      state: 'running',
      duration_ms: 70,
      attempts: [{ outcome: 'running' }],
    });
    end(first);
    expect(ids()).toEqual(['second', 'first', 'over']);
    expect(ids({ state: 'running' })).toEqual(['second']);
    expect(store.find('first')).toMatchObject({ state: 'complete' });
  });

  it('finds the latest of several records with the same id, and counts them', () => {
    const { store, begin, pass, end } = createBench(2);
    pass('a', { settingsHash: 'one' });
    expect(store.find('a')).not.toHaveProperty('same_id');
    pass('a', { settingsHash: 'two' });
    expect(store.find('a')).toMatchObject({ settings_hash: 'two', same_id: 2 });
    const third = begin('a', { settingsHash: 'three' });
    expect(store.find('a')).toMatchObject({ settings_hash: 'three', state: 'running', same_id: 3 });
    end(third);
    expect(store.find('a')).toMatchObject({ settings_hash: 'three', same_id: 2 });
    expect(store.find('b')).toBeUndefined();
  });

  it('applies filters before the limit', () => {
    const { pass, begin, ids } = createBench(10);
    const key = (keyId: string) => ({ caller: createCaller({ keyId }) });
    pass('a', key('one'));
    pass('b', { ...key('two'), config: createConfig({ id: 'prod' }) });
    pass('c', key('one'));
    begin('d', { caller: undefined });
    expect(ids({ key: ['one'] })).toEqual(['c', 'a']);
    expect(ids({ key: ['one'], limit: 1 })).toEqual(['c']);
    expect(ids({ key: ['on'] })).toEqual([]);
    expect(ids({ config: ['prod'] })).toEqual(['b']);
    expect(ids({ config: ['prod'], key: ['one'] })).toEqual([]);
    expect(ids({ state: 'complete', limit: 2 })).toEqual(['c', 'b']);
  });

  const limited = new UpstreamError('rate_limit_exceeded', 'no');
  /** One filter each, and the requests that it finds of the three below. */
  const FILTERS: [Partial<RecordQuery>, string[]][] = [
    [{ state: 'complete' }, ['rescued', 'fast']],
    [{ state: 'rescued' }, ['rescued']],
    [{ state: 'failed' }, ['refused']],
    [{ key: ['one'] }, ['fast']],
    [{ key: ['one', 'two'] }, ['rescued', 'fast']],
    [{ team: ['web'] }, ['rescued']],
    [{ config: ['prod'] }, ['rescued']],
    [{ provider: ['vertex-eu'] }, ['refused', 'rescued', 'fast']],
    [{ provider: ['claude'] }, ['rescued']],
    [{ model: ['claude-sonnet-4-5'] }, ['rescued']],
    [{ target: ['config.targets[2]'] }, ['rescued']],
    [{ status: ['429'] }, ['refused']],
    [{ status: ['4xx', '200'] }, ['refused', 'rescued', 'fast']],
    [{ error: ['rate_limit_exceeded'] }, ['refused']],
    [{ error: ['overloaded'] }, []],
    [{ minMs: 900 }, ['rescued']],
    [{ labels: { app: ['search'] } }, ['rescued']],
    [{ labels: { app: ['search', 'chat'], toString: ['x'] } }, []],
    [{ text: 'BUSY-WORDS' }, ['rescued']],
    [{ since: WALL + 5 }, ['refused', 'rescued']],
    [{ until: WALL + 5 }, ['fast']],
    [{ since: WALL, until: WALL, state: 'complete' }, []],
  ];

  it.each(FILTERS)('finds by %j: %j', async (query, found) => {
    const { store, ids } = createBench(10);
    const keep = (parts: Partial<Exchange>, end: ReplyEnd, endedAt: number, receivedAt: number): void =>
      store.keep(boundRecord(recordOf(exchangeOf(parts), end, { endedAt, receivedAt })));
    keep(
      { id: 'fast', caller: createCaller({ keyId: 'one' }), attempts: [attemptOf({ tries: [tryOf(3, 5)] })] },
      endOf(),
      9,
      WALL,
    );
    const busy = new UpstreamError('overloaded', 'no', { upstreamReport: { message: 'Busy-Words' } });
    const failed = attemptOf({
      tries: [tryOf(3, 5, { status: 503, error: busy })],
      error: busy,
    });
    const second = attemptOf({
      number: 1,
      target: createTarget({ path: 'config.targets[2]', provider: '@claude' }),
      resolved: anthropic,
      tries: [tryOf(6, 900)],
    });
    keep(
      {
        id: 'rescued',
        caller: createCaller({ keyId: 'two', team: 'web' }),
        config: createConfig({ id: 'prod' }),
        metadata: { app: 'search' },
        attempts: [failed, second],
      },
      endOf(),
      1000,
      WALL + 10,
    );
    keep(
      { id: 'refused', attempts: [attemptOf()], error: limited },
      endOf({ state: 'failed', status: 429, error: limited }),
      20,
      WALL + 20,
    );
    expect(ids(query)).toEqual(found);
    const page = await store.page({ limit: 1000, ...query });
    expect(page.lines.map(({ line }) => Reflect.get(line, 'request_id'))).toEqual(found);
    expect(page).toMatchObject({ more: false, oldest: new Date(WALL).toISOString() });
  });

  it('has every request once on pages of any size, while others begin and end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 20 }), async (limit, late) => {
        const { store, begin, end, pass } = createBench(100);
        for (let index = 0; index < 10; index += 1) pass(`kept-${index}`);
        const running = Array.from({ length: 5 }, (_, index) => begin(`runs-${index}`));
        const seen: string[] = [];
        let after: RecordPlace | undefined;
        for (let pages = 0; pages < 100; pages += 1) {
          const { lines, more } = await store.page({ limit, ...(after && { after }) });
          seen.push(...lines.map(({ line }) => String(Reflect.get(line, 'request_id'))));
          after = lines.at(-1)?.place;
          if (pages === late % 5) end(running[late % 5]!);
          pass(`later-${pages}`);
          if (!more) break;
        }
        for (let index = 0; index < 10; index += 1)
          expect(seen.filter((id) => id === `kept-${index}`)).toEqual([`kept-${index}`]);
        for (let index = 0; index < 5; index += 1) expect(seen).toContain(`runs-${index}`);
      }),
      { numRuns: 50 },
    );
  });

  it('releases a request whose record could not be created', () => {
    const { store, begin, ids } = createBench(10);
    store.end(begin('a'));
    expect(ids()).toEqual([]);
  });

  it('returns nothing with capacity 0', () => {
    const { store, begin, pass, ids } = createBench(0);
    pass('a');
    begin('b');
    expect([ids(), store.find('a'), store.find('b')]).toEqual([[], undefined, undefined]);
  });
});
