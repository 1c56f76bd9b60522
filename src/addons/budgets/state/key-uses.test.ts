import { expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { KeyUses } from '../process.ts';

it('uses of keys are written once a minute, the last one of each, and again when the store refused them', async () => {
  const clock = createFakeClock(0);
  const written: string[] = [];
  let refuses = false;
  const uses = new KeyUses(clock, async (batch) => {
    if (refuses) throw new Error('down');
    written.push(batch.map(({ keyId, at, address }) => `${keyId} ${at} ${address}`).join(', '));
  });
  for (const at of [1, 2, 3]) uses.used('a', `10.0.0.${at}`, at);
  uses.used('b', '::1', 2);
  await clock.advance(59_000);
  expect(written).toEqual([]);
  await clock.advance(1_000);
  expect(written).toEqual(['a 3 10.0.0.3, b 2 ::1']);
  refuses = true;
  uses.used('a', '::2', 70_000);
  await clock.advance(60_000);
  refuses = false;
  uses.used('b', '::3', 130_000);
  await clock.advance(60_000);
  expect(written.slice(1)).toEqual(['a 70000 ::2, b 130000 ::3']);
  await clock.advance(600_000);
  expect(written).toHaveLength(2);
});

it('a use during a write that fails replaces the one of that write', async () => {
  const clock = createFakeClock(0);
  const written: string[] = [];
  const first = Promise.withResolvers<void>();
  const uses = new KeyUses(clock, async (batch) => {
    written.push(batch.map(({ at }) => at).join(', '));
    if (written.length === 1) await first.promise;
  });
  uses.used('a', '::1', 1);
  await clock.advance(60_000);
  uses.used('a', '::1', 2);
  first.reject(new Error('down'));
  await clock.advance(60_000);
  expect(written).toEqual(['1', '2']);
});
