import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { rowOf } from '../../state/contract/opened-store.testkit.ts';
import { openMemoryStore } from '../../state/memory/state-store.ts';
import { KeyEncryptionKeys } from '../../state/rules/sealing.ts';
import type { StateStore } from '../../state/store.ts';
import { answerAboutState, SharedState } from './shared-state.ts';

const BOOT = { id: '1'.repeat(32), host: 'h', role: 'worker', version: '1', configHash: '', startedAt: 0 } as const;
const PATH = [{ node: 'team/a', period: 0 }];

/** A worker and its primary, with a copy of each message between them, as a channel makes. */
function pair(store: (clock: ReturnType<typeof createFakeClock>) => StateStore | undefined) {
  const clock = createFakeClock();
  const opened = store(clock);
  const shared: SharedState = new SharedState((message) => {
    void answerAboutState(structuredClone(message), opened).then((answer) => shared.receive(structuredClone(answer)));
  }, clock);
  return { shared, clock, opened };
}
const memory = (clock: ReturnType<typeof createFakeClock>): StateStore =>
  openMemoryStore(clock, KeyEncryptionKeys.none());

describe('the state store of a worker', () => {
  it('is that of the primary', async () => {
    const { shared, opened } = pair(memory);
    const { grants } = await shared.take([{ path: PATH, caps: [100], need: 60, want: 60 }], BOOT, 1);
    await shared.report([{ lease: grants[0]!.leases[0]!.lease, usedTotal: 25 }], BOOT);
    expect(await opened!.counters.read(PATH)).toMatchObject([{ spent: 25, leased: 35 }]);
    await shared.giveBack([grants[0]!.leases[0]!.lease], BOOT);
    expect([await shared.read(PATH), await shared.notify(PATH[0]!, 1)]).toMatchObject([
      [{ spent: 25, leased: 0 }],
      true,
    ]);
    expect([await shared.append([rowOf(1)]), await shared.append([rowOf(1)])]).toEqual([1, 0]);
    await shared.seen([]);
  });

  it('fails as that of the primary does', async () => {
    const { shared } = pair(memory);
    await expect(shared.take([], { ...BOOT, id: 'x' }, 1)).rejects.toMatchObject({ code: 'invalid' });
    await expect(pair(() => undefined).shared.append([])).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is unavailable when the primary does not answer', async () => {
    const clock = createFakeClock();
    const asking = new SharedState(() => {}, clock).append([]);
    const failed = expect(asking).rejects.toMatchObject({ code: 'unavailable' });
    await clock.advance(1_000);
    await failed;
  });
});
