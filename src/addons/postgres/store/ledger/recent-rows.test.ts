import { describe, expect, it } from 'vitest';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { LedgerRow } from '../../../../core/ports/ledger.ts';
import { createFakeClock } from '../../../../plugin/testing/index.ts';
import { rowOf } from '../../../budgets/store/contract/opened-store.testkit.ts';
import { RecentRows } from './recent-rows.ts';

function recent(failureOf: (rows: readonly LedgerRow[]) => StateFailure | undefined = () => undefined) {
  const clock = createFakeClock();
  const server = { breaks: 0, lacks: false };
  const sent: number[][] = [];
  const rows = new RecentRows({
    clock,
    breaks: () => server.breaks,
    append(some) {
      const failure = failureOf(some);
      if (failure) return Promise.reject(failure);
      sent.push(some.map(({ att }) => att));
      return Promise.resolve(server.lacks ? some.length : 0);
    },
  });
  return { clock, server, sent, rows };
}

const batch = (...numbers: number[]): LedgerRow[] => numbers.map((att) => rowOf(att, { att }));

describe('rows that were confirmed', () => {
  it('are sent again once after a connection has broken, those of the last minute', async () => {
    const { clock, server, sent, rows } = recent();
    rows.confirmed(batch(1));
    await clock.advance(30_000);
    rows.confirmed(batch(2, 3));
    await rows.sendAgain();
    expect(sent).toEqual([]);
    await clock.advance(30_001);
    server.breaks += 1;
    await rows.sendAgain();
    await rows.sendAgain();
    expect(sent).toEqual([[2, 3]]);
  });

  it('are those of the last minute again where the server lacked them: a second failover may lose them, too', async () => {
    const { clock, server, sent, rows } = recent();
    rows.confirmed(batch(1));
    for (const lacks of [true, false, false]) {
      await clock.advance(45_000);
      Object.assign(server, { breaks: server.breaks + 1, lacks });
      await rows.sendAgain();
    }
    expect(sent).toEqual([[1], [1]]);
  });

  it('wait for a store that does not answer', async () => {
    let isAway = true;
    const { server, sent, rows } = recent(() => (isAway ? new StateFailure('unavailable', 'away') : undefined));
    rows.confirmed(batch(1));
    server.breaks += 1;
    await expect(rows.sendAgain()).rejects.toMatchObject({ code: 'unavailable' });
    isAway = false;
    await rows.sendAgain();
    expect(sent).toEqual([[1]]);
  });

  it('keep no others out where the ledger refuses them', async () => {
    const { server, sent, rows } = recent(([row]) =>
      row?.att === 1 ? new StateFailure('invalid', 'dropped') : undefined,
    );
    rows.confirmed(batch(1));
    rows.confirmed(batch(2));
    server.breaks += 1;
    await rows.sendAgain();
    expect(sent).toEqual([[2]]);
  });

  it('are at most 20,000, the newest', async () => {
    const { server, sent, rows } = recent();
    for (let at = 1; at <= 3; at += 1) rows.confirmed(Array.from({ length: 9_000 }, () => rowOf(at, { att: at })));
    server.breaks += 1;
    await rows.sendAgain();
    expect(sent.map(([att]) => att)).toEqual([2, 3]);
  });
});
