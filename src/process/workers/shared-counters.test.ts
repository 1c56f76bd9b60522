import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { MemoryAudit } from '../../state/memory/audit.ts';
import { MemoryCounters } from '../../state/memory/counters.ts';
import { newBoot } from '../boot.ts';
import type { ToPrimary } from './ipc.ts';
import { CountersOfWorkers, SharedCounters } from './shared-counters.ts';

type Asked = Extract<ToPrimary, { readonly type: 'counters' }>;

function start() {
  const clock = createFakeClock();
  const store = new MemoryCounters(clock, new MemoryAudit(clock));
  const lost: number[] = [];
  const primary = new CountersOfWorkers(store, clock, (leases) => void lost.push(leases));
  const asked: Asked[] = [];
  const worker = new SharedCounters((message) => void asked.push(message), clock);
  const answered = async <T>(question: Promise<T>): Promise<T> => {
    worker.receive(await primary.answer(7, structuredClone(asked.at(-1)!)));
    return question;
  };
  return { clock, store, lost, primary, asked, worker, answered };
}

const path = [{ node: 'team:t month usd', period: 0 }];
const ask = { path, caps: [100], need: 10, want: 40 };

describe('the counters of a worker', () => {
  it('are those of the primary', async () => {
    const { worker, answered, clock, store, primary } = start();
    const by = newBoot('worker', clock);
    const { grants } = await answered(worker.take([ask], by, 1));
    expect(grants).toMatchObject([{ granted: 40 }]);
    const { lease } = grants[0]!.leases[0]!;
    await answered(worker.report([{ lease, usedTotal: 30 }], by));
    await answered(worker.giveBack([lease], by));
    expect(await store.read(path)).toMatchObject([{ spent: 30, leased: 0, unreconciled: 0 }]);
    primary.stop();
    expect(clock.pending).toEqual([]);
  });

  it('have no room left of a worker that ended: what it had leased counts as spent', async () => {
    const { worker, answered, clock, store, primary, lost } = start();
    await answered(worker.take([ask], newBoot('worker', clock), 1));
    await primary.ended(7);
    expect(await store.read(path)).toMatchObject([{ spent: 0, leased: 0, unreconciled: 40 }]);
    expect(lost).toEqual([1]);
    primary.stop();
  });

  it('are given up when the primary does not answer in time, or fails', async () => {
    const { worker, clock, asked } = start();
    const by = newBoot('worker', clock);
    const silent = expect(worker.take([ask], by, 1)).rejects.toThrow(
      'no answer of the primary to "take" within 5000 ms',
    );
    await clock.advance(5000);
    await silent;
    const failed = expect(worker.report([], by)).rejects.toThrow('broken');
    worker.receive({ type: 'counters', id: asked.at(-1)!.id, failed: 'broken' });
    await failed;
    expect(clock.pending).toEqual([]);
  });
});
