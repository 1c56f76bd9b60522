import { describe, expect, it } from 'vitest';
import {
  formatDuration,
  nearestLimit,
  overdueError,
  DeadlineTimer,
  type LimitSettings,
  type Progress,
} from './limits.ts';
import { systemClock } from '../kernel/system-clock.ts';
import type { Clock } from '../../plugin/index.ts';

const settings: LimitSettings = {
  timeouts: { connect: 50, firstByte: 200, firstContent: 300, idle: 100, total: 10_000 },
  hold: { bytes: 1, ms: 30 },
  deadline: 10_000,
  deadlineOf: 'total',
};
const started: Progress = {
  phase: 'connecting',
  stream: true,
  startedAt: 1000,
  headersAt: 0,
  content: false,
  begun: false,
  progressAt: 0,
  paused: false,
  pausedFor: 0,
  uploading: false,
  waitsForClient: false,
};

describe('the limit that is due first', () => {
  it.each<[string, Partial<Progress>, Partial<LimitSettings>, { name: string; at: number }]>([
    ['while connecting', {}, {}, { name: 'connect', at: 1050 }],
    ['while a form is sent', { phase: 'sent', uploading: true, progressAt: 1150 }, {}, { name: 'idle', at: 1250 }],
    [
      'while the client sends its form',
      { phase: 'sent', uploading: true, waitsForClient: true },
      {},
      { name: 'total', at: 10_000 },
    ],
    ['while waiting for headers', { phase: 'sent' }, {}, { name: 'first_byte', at: 1200 }],
    [
      'before content, from the headers',
      { phase: 'held', headersAt: 1100, progressAt: 1100 },
      {},
      { name: 'hold', at: 1130 },
    ],
    [
      'before content, where another target would be asked',
      { phase: 'held', headersAt: 1100, progressAt: 1100 },
      { hold: { bytes: 1, ms: 30, outlastsSilence: true } },
      { name: 'first_content', at: 1300 },
    ],
    [
      'in a stream that is held to its end, from its content on',
      { phase: 'held', headersAt: 1100, progressAt: 1110, content: true },
      { hold: { bytes: 1, ms: 30, outlastsSilence: true } },
      { name: 'hold', at: 1130 },
    ],
    [
      'in a stream that is held to its end and stalls',
      { phase: 'held', headersAt: 1100, progressAt: 1110, content: true },
      { hold: { bytes: 1, ms: 3000 } },
      { name: 'idle', at: 1210 },
    ],
    [
      'after the hold, without content',
      { phase: 'flowing', headersAt: 1100, progressAt: 1290 },
      {},
      { name: 'first_content', at: 1300 },
    ],
    [
      'in a stream whose upstream has begun an item, from its last sign of life',
      { phase: 'flowing', headersAt: 1100, progressAt: 1290, begun: true },
      {},
      { name: 'first_content', at: 1590 },
    ],
    [
      'in a stream that is held while its upstream works on an item',
      { phase: 'held', headersAt: 1100, progressAt: 1310, begun: true },
      { hold: { bytes: 1, ms: 30, outlastsSilence: true } },
      { name: 'hold', at: 1310 },
    ],
    [
      'in a stream that is held while its upstream has begun an item and is silent',
      { phase: 'held', headersAt: 1100, progressAt: 1250, begun: true },
      { hold: { bytes: 1, ms: 30, outlastsSilence: true } },
      { name: 'first_content', at: 1550 },
    ],
    [
      'while waiting for the headers of a plain reply',
      { phase: 'sent', stream: false },
      { timeouts: { ...settings.timeouts, firstByte: 900, firstByteOfStream: 200 } },
      { name: 'first_byte', at: 1900 },
    ],
    [
      'while waiting for the headers of a stream',
      { phase: 'sent' },
      { timeouts: { ...settings.timeouts, firstByte: 900, firstByteOfStream: 200 } },
      { name: 'first_byte', at: 1200 },
    ],
    ['without content, after a pause', { phase: 'flowing', pausedFor: 70 }, {}, { name: 'first_content', at: 1370 }],
    ['after content', { phase: 'flowing', content: true, progressAt: 1500 }, {}, { name: 'idle', at: 1600 }],
    [
      'while paused',
      { phase: 'flowing', content: true, progressAt: 1500, paused: true },
      {},
      { name: 'total', at: 10_000 },
    ],
    [
      'in a plain reply',
      { phase: 'held', stream: false, headersAt: 1100, progressAt: 1150 },
      {},
      { name: 'idle', at: 1250 },
    ],
    [
      'in the body of a refusal',
      { phase: 'refused', headersAt: 1100, progressAt: 1150 },
      {},
      { name: 'idle', at: 1250 },
    ],
    [
      'in the body of a refusal that dribbles',
      { phase: 'refused', headersAt: 1100, progressAt: 4095 },
      {},
      { name: 'refusal', at: 4100 },
    ],
    ['in line for a connection', { phase: 'waiting' }, {}, { name: 'line', at: 1050 }],
    ['in line, when the total is the nearest', { phase: 'waiting' }, { deadline: 1020 }, { name: 'total', at: 1020 }],
    ['when the total is the nearest', { phase: 'sent' }, { deadline: 1100 }, { name: 'total', at: 1100 }],
  ])('%s', (_, progress, changes, expected) => {
    expect(nearestLimit({ ...started, ...progress }, { ...settings, ...changes })).toEqual(expected);
  });
});

it('formats durations for people', () => {
  expect([0, 40, 999, 1000, 1500, 120_000].map(formatDuration)).toEqual([
    '0 ms',
    '40 ms',
    '999 ms',
    '1 s',
    '1.5 s',
    '120 s',
  ]);
});

it('the deadline of the whole request is not a timeout of the target', () => {
  const nearest = nearestLimit({ ...started, phase: 'sent' }, { ...settings, deadline: 1100, deadlineOf: 'request' });
  expect(nearest).toEqual({ name: 'request', at: 1100 });
});

it.each(['connect', 'first_byte', 'first_content', 'idle', 'total'] as const)(
  '%s names itself, its length and the host',
  (name) => {
    const error = overdueError(
      { name, phase: 'sent', host: 'api.test' },
      { timeouts: settings.timeouts, requestMs: 20_000, stream: true },
    );
    expect(error).toMatchObject({ code: `timeout_${name}`, status: 504 });
    expect(error.message).toMatch(new RegExp(`api\\.test.* \\d+ m?s \\(timeouts\\.${name}\\)`));
  },
);

it('the error for the deadline of the whole request names its length and the host', () => {
  const error = overdueError(
    { name: 'request', phase: 'sent', host: 'api.test' },
    { timeouts: settings.timeouts, requestMs: 1500, stream: true },
  );
  expect(error).toMatchObject({ code: 'timeout_request', status: 504 });
  expect(error.message).toMatch(/api\.test.*the request's deadline of 1\.5 s/);
});

/** A clock that the test advances. */
function createManualClock() {
  const waiting = new Map<symbol, { at: number; task: () => void }>();
  let now = 0;
  let set = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    after(ms, task) {
      const key = Symbol('timer');
      set += 1;
      waiting.set(key, { at: now + ms, task });
      return () => waiting.delete(key);
    },
  };
  return {
    clock,
    advance(ms: number) {
      now += ms;
      for (const [key, { at, task }] of waiting) {
        if (at > now) continue;
        waiting.delete(key);
        task();
      }
    },
    timersSet: () => set,
    waiting: () => waiting.size,
  };
}

it('wakes once at the requested time', () => {
  const time = createManualClock();
  let woken = 0;
  const timer = new DeadlineTimer(time.clock, { onTimer: () => (woken += 1) });
  timer.waitUntil(50);
  time.advance(49);
  expect(woken).toBe(0);
  time.advance(1);
  time.advance(1000);
  expect(woken).toBe(1);
});

it('is reset for an earlier time and not for a later one', () => {
  const time = createManualClock();
  let woken = 0;
  const timer = new DeadlineTimer(time.clock, { onTimer: () => (woken += 1) });
  for (let at = 100; at < 10_000; at += 1) timer.waitUntil(at);
  expect(time.timersSet()).toBe(1);
  timer.waitUntil(20);
  expect([time.timersSet(), time.waiting()]).toEqual([2, 1]);
  time.advance(20);
  expect(woken).toBe(1);
});

it('waits in steps for a time beyond the largest timer', () => {
  const time = createManualClock();
  let woken = 0;
  const timer = new DeadlineTimer(time.clock, { onTimer: () => (woken += 1) });
  timer.waitUntil(Infinity);
  expect(time.waiting()).toBe(0);
  timer.waitUntil(1e12);
  time.advance(0x7fffffff);
  expect(woken).toBe(1);
});

it('does not wake after it was stopped', () => {
  const time = createManualClock();
  const timer = new DeadlineTimer(time.clock, { onTimer: () => expect.unreachable() });
  timer.waitUntil(50);
  timer.stop();
  time.advance(100);
  expect(time.waiting()).toBe(0);
});
