import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { stopSignal } from './stop-signals.ts';

function listen() {
  const process = new EventEmitter();
  const clock = createFakeClock();
  let ended = 0;
  const first = stopSignal(process, clock, () => (ended += 1));
  return { process, clock, first, ended: () => ended };
}

it('the first signal resolves, whichever it is', async () => {
  const { process, first, ended } = listen();
  process.emit('SIGINT', 'SIGINT');
  expect([await first, ended()]).toEqual(['SIGINT', 0]);
});

it('a signal that a parent forwards a moment later counts as the first', async () => {
  const { process, clock, ended } = listen();
  process.emit('SIGINT', 'SIGINT');
  await clock.advance(499);
  process.emit('SIGINT', 'SIGINT');
  process.emit('SIGTERM', 'SIGTERM');
  expect(ended()).toBe(0);
});

it.each(['SIGTERM', 'SIGINT'])('%s counts as the second signal after half a second', async (second) => {
  const { process, clock, ended } = listen();
  process.emit('SIGTERM', 'SIGTERM');
  await clock.advance(500);
  process.emit(second, second);
  expect(ended()).toBe(1);
});
