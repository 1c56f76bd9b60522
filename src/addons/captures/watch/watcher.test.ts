import { expect, it } from 'vitest';
import type { Taps } from '../../../core/kernel/taps.ts';
import { attemptOf, endOf, exchangeOf, tryOf } from '../../../core/record/exchange.testkit.ts';
import { createSignals } from '../../../formats/events.ts';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { CaptureStore } from '../store.ts';
import { Watcher, type Caught } from './watcher.ts';

function watcherWith() {
  const clock = createFakeClock();
  const taps: Taps = {};
  const caught: Caught[] = [];
  const watcher = new Watcher({ clock, taps, secrets: () => [], caught: (one) => caught.push(one) });
  return { clock, taps, caught, watcher };
}

it('Nothing is held of a request that still runs when the last capture ends, and the next one has all room', () => {
  const { caught, taps, watcher } = watcherWith();
  const ends: (() => void)[] = [];
  const running = exchangeOf({ onEnd: (end) => void ends.push(() => end(endOf())) });
  const call = {
    origin: { url: 'https://a.example' },
    method: 'POST',
    path: '/v1',
    headers: {},
    body: 'x'.repeat(1000),
  };
  const begin = () => watcher.begin({ id: 'a', query: {}, requests: 1, ms: 1000 });
  for (let round = 0; round < 40; round += 1) {
    begin();
    const tap = taps.calling!(running, attemptOf(), call, tryOf(0, 1));
    const reader = tap.reading(
      { status: 200, headers: {} },
      { signals: createSignals(), push: () => undefined, end: () => undefined },
    );
    reader.push(Buffer.alloc(1024 * 1024));
    watcher.end('a');
    // More than 32 MiB in all come after the capture, and count for none.
    reader.push(Buffer.alloc(1024 * 1024));
    expect(watcher.size).toBe(0);
  }
  for (const end of ends.splice(0)) end();
  expect(caught).toEqual([]);
  begin();
  taps.calling!(running, attemptOf(), call, tryOf(0, 1));
  for (const end of ends) end();
  expect(caught).toMatchObject([{ captures: ['a'], line: expect.stringContaining('"body":"xxx') }]);
});

it('A request with its replies of more than 2 MiB is too large', () => {
  const { caught, taps, watcher } = watcherWith();
  let end: () => void = () => {};
  const large = exchangeOf({ onEnd: (listener) => (end = () => listener(endOf())) });
  watcher.begin({ id: 'a', query: {}, requests: 1, ms: 1000 });
  taps.replying!(large, { status: 200, headers: {}, body: Buffer.alloc(2 * 1024 * 1024 + 1), stream: false });
  end();
  expect(caught).toEqual([{ captures: ['a'], line: undefined }]);
});

const wish = { query: {}, where: {}, requests: 2, minutes: 1, by: 'ops' };

it('Requests have taps only while a capture runs', async () => {
  const { clock, taps, watcher } = watcherWith();
  expect(Object.values(taps).filter(Boolean)).toEqual([]);
  watcher.begin({ id: 'a', query: {}, requests: 1, ms: 1000 });
  watcher.begin({ id: 'b', query: {}, requests: 1, ms: 2000 });
  expect(Object.values(taps).filter(Boolean)).toHaveLength(2);
  await clock.advance(1000);
  expect(Object.values(taps).filter(Boolean)).toHaveLength(2);
  await clock.advance(1000);
  expect(Object.values(taps).filter(Boolean)).toEqual([]);
});

async function started(clock = createFakeClock()) {
  const store = new CaptureStore(clock);
  const asked: [string, unknown][] = [];
  const state = await store.start(async (topic, question) => (asked.push([topic, question]), []), wish);
  return { clock, store, asked, id: state!.id };
}

it('A capture is done with its last request, and the processes stop to watch', async () => {
  const { store, asked, id } = await started();
  store.receive({ captures: [id], line: '{}' });
  expect(store.list()).toMatchObject([{ state: 'running', captured: 1 }]);
  store.receive({ captures: [id], line: '{}' });
  store.receive({ captures: [id], line: '{}' });
  expect(store.list()).toMatchObject([{ state: 'done', captured: 2 }]);
  expect(asked).toEqual([
    ['captures.begin', { id, query: {}, requests: 2, ms: 60_000 }],
    ['captures.end', id],
  ]);
  expect([...store.file(id)!]).toHaveLength(3);
});

it('Nothing is left of a capture 10 minutes after its time, nor after it was ended', async () => {
  const { clock, store, id } = await started();
  store.receive({ captures: [id], line: '{}' });
  await clock.advance(60_000);
  expect(store.list()).toMatchObject([{ state: 'done', captured: 1 }]);
  await clock.advance(600_000);
  expect([store.list(), store.file(id)]).toEqual([[], undefined]);
  const other = await started();
  expect(await other.store.end(other.id)).toBe(true);
  expect([other.store.list(), await other.store.end(other.id)]).toEqual([[], false]);
});

it('Requests without room are counted', async () => {
  const { store, id } = await started();
  store.receive({ captures: [id], line: undefined });
  store.receive({ captures: [id], line: 'x'.repeat(16 * 1024 * 1024 + 1) });
  expect(store.list()).toMatchObject([{ state: 'running', captured: 0, too_large: 2 }]);
});

it('A fifth capture is refused', async () => {
  const clock = createFakeClock();
  const store = new CaptureStore(clock);
  const start = () => store.start(async () => [], wish);
  for (let index = 0; index < 4; index += 1) expect(await start()).toBeDefined();
  expect(await start()).toBeUndefined();
});
