import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { call, type Api, type Received } from './kit/client.ts';
import { FALLBACK, PRIMARY } from './kit/deeds.ts';
import { DIALECT_NAMES, type DialectName } from './kit/dialects.ts';
import { gained, total } from './kit/metrics.ts';
import { startRig, type DecisionRecord, type Rig } from './kit/rig.ts';
import { cut, type Deed } from './kit/upstream.ts';
import { configFor } from './scenarios.ts';

/** Many streams at once, cut anywhere: whatever happens to one of them, it ends once, and the counts add up. */

const STREAMS = 200;
const SEEDS = [1, 20_261_121];

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(Object.fromEntries(DIALECT_NAMES.map((name) => [name, configFor(name, 'fallback', {})])));
});
afterAll(() => rig.close());

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Writes the stream in pieces of any size, and breaks off at any byte; one in three stays whole. */
const cutAnywhere =
  (seed: number): Deed =>
  async (visit, res) => {
    const random = randomOf(seed + Number(/stream (\d+)/.exec(visit.body)?.[1]) * 7919);
    const { head, words, finish, mark } = visit.dialect.stream(PRIMARY);
    const whole = Buffer.from([...head, ...words, ...finish, ...mark].join(''));
    const end = random() < 1 / 3 ? whole.length : Math.floor(random() * whole.length);
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    for (let from = 0; from < end && !res.destroyed;) {
      const to = Math.min(end, from + 1 + Math.floor(random() * 200));
      await written(res, whole.subarray(from, to));
      from = to;
    }
    if (end === whole.length) res.end();
    else cut(visit, res, random() < 0.5 ? 'reset' : 'close');
  };

/** When it has left, and a turn of the loop later: pieces arrive as pieces. */
const written = (res: ServerResponse, bytes: Buffer): Promise<void> =>
  new Promise((resolve) => {
    res.once('close', resolve);
    res.write(bytes, () => {
      res.off('close', resolve);
      setImmediate(resolve);
    });
  });

interface Visitor {
  readonly id: string;
  readonly api: Api;
  readonly dialect: DialectName;
  readonly leaves: boolean;
  readonly received: Received | undefined;
}

async function visit(seed: number, number: number): Promise<Visitor> {
  const random = randomOf(seed ^ (number * 104_729));
  const dialect = DIALECT_NAMES[Math.floor(random() * DIALECT_NAMES.length)]!;
  const api: Api = random() < 0.5 ? 'chat' : 'messages';
  const leaves = random() < 0.1;
  const id = `crowd-${seed}-${number}`;
  const body = { messages: [{ role: 'user', content: `stream ${number}` }] };
  const open = call(rig.gateway.url, { api, stream: true, config: dialect, body, headers: { 'x-request-id': id } });
  if (!leaves) return { id, api, dialect, leaves, received: await open.done };
  await open.firstBytes.catch(() => {});
  open.leave();
  return { id, api, dialect, leaves, received: undefined };
}

/** One end, and before it nothing but what one upstream said. */
function expectOneEnd({ api, received }: Visitor): void {
  const { status, text, error, ends, endsLast, broken } = received!;
  expect([status, broken, endsLast, ends]).toEqual([200, false, true, [error ? 'error' : 'complete']]);
  const [first, second] = [PRIMARY.words.join(''), FALLBACK.words.join('')];
  if (error) {
    expect(first.startsWith(text), text).toBe(true);
    expect(error.code, api).toBe('stream_interrupted');
  } else expect([first, second]).toContain(text);
}

it.each(SEEDS)(`of ${STREAMS} streams with cuts at random (seed %i) each has exactly one end`, async (seed) => {
  rig.primary.does(cutAnywhere(seed));
  rig.primary.forget();
  const before = await rig.scrape();
  const visitors = await Promise.all(Array.from({ length: STREAMS }, (_, number) => visit(seed, number)));
  const stayed = visitors.filter(({ leaves }) => !leaves);
  for (const visitor of stayed) expectOneEnd(visitor);
  await until(() => visitors.every(({ id }) => rig.lines().has(id)), 'every request has its access line');
  const after = await rig.scrape();
  const sum = (name: string): number => total(gained(before, after, name));

  const records: DecisionRecord[] = [];
  for (const { id } of visitors) records.push(await rig.record(id));
  for (const [index, { received }] of visitors.entries()) {
    // Who leaves may find that the end was there first.
    if (received) expect(records[index]!.state).toBe(received.error ? 'failed' : 'complete');
    else expect(records[index]!.state).not.toBe('running');
  }
  const count = (of: (record: DecisionRecord) => number): number =>
    records.reduce((all, record) => all + of(record), 0);
  expect(sum('gatehouse_requests_total')).toBe(STREAMS);
  expect(sum('gatehouse_upstream_attempts_total')).toBe(count(({ attempts }) => attempts.length));
  expect(sum('gatehouse_fallbacks_total')).toBe(count(({ attempts }) => attempts.length - 1));
  expect(sum('gatehouse_client_disconnects_total')).toBe(count(({ state }) => Number(state === 'aborted')));
  expect(sum('gatehouse_tokens_total')).toBe(
    count(({ attempts }) =>
      attempts
        .filter(({ answered }) => answered)
        .reduce((all, { tokens }) => all + (tokens?.input ?? 0) + (tokens?.output ?? 0), 0),
    ),
  );
  expect(rig.primary.visits.length).toBe(STREAMS);
  // Some of each kind, or the test would show nothing.
  for (const state of ['complete', 'failed', 'aborted']) expect(records.map((record) => record.state)).toContain(state);
  expect(sum('gatehouse_fallbacks_total')).toBeGreaterThan(0);
  await until(
    () => rig.gateway.gateway.upstream.stats().every(({ running }) => running === 0),
    'all upstreams are let go',
  );
  for (const [name, value] of await rig.scrape())
    if (name.startsWith('gatehouse_requests_in_flight')) expect(value, name).toBe(0);
});
