import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { ANN, NOON } from '../store/contract/opened-store.testkit.ts';
import { addStoreDrivers } from '../../../core/ports/store-driver.ts';
import type { Loaded } from '../../../core/ports/entities.ts';
import { SQLITE } from '../store/sqlite/driver.ts';
import { StateFailure, type StateFailureCode } from '../../../core/ports/failures.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { sameThreadStore } from '../store/sqlite/same-thread-store.testkit.ts';
import { ReconnectingStore } from './reconnecting-store.ts';

const SPAN = 300_000;
addStoreDrivers([{ ...SQLITE, type: 'shared', use: 'shared' }]);

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'gatehouse-kept-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** A store whose answers can fail, under a process that starts again and again. */
function setUp(keys: 'snapshot' | 'refuse' = 'snapshot', type: 'sqlite' | 'shared' = 'sqlite') {
  const clock = createFakeClock(NOON);
  const inner = sameThreadStore(clock);
  const problems: string[] = [];
  let failure: StateFailureCode | undefined;
  let changes = 0;
  let shown: ((loaded: Loaded) => Partial<Loaded>) | undefined;
  const failing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (failure) throw new StateFailure(failure, 'broken');
    return work();
  };
  const store: StateStore = {
    ...inner,
    // A process that starts again opens the same one.
    close: () => Promise.resolve(),
    entities: {
      ...inner.entities,
      load: (since) =>
        failing(async () => {
          const loaded = await inner.entities.load(shown ? 0 : since);
          return { ...loaded, ...shown?.(loaded) };
        }),
      watch: (hint) => inner.entities.watch(hint),
    },
  };
  const settings = {
    store: { type: type as 'sqlite', dir: folder },
    dir: folder,
    owns: ['keys'],
    encryptionKeys: undefined,
    peppers: undefined,
    backup: undefined,
    timeZone: 'UTC',
    whenDown: { keys, maxAgeMs: 2 * SPAN, budgets: 'refuse' },
    retention: { ledger: 400, hours: 35, sums: 1096, audit: 2557 },
    ledgerLabels: [],
  } as const;
  const errors: string[] = [];
  const log = { info() {}, warn() {}, error: (_: object, message: string) => void errors.push(message) } as never;
  const open = async (): Promise<ReconnectingStore | undefined> => {
    const kept = await ReconnectingStore.open(
      { settings, clock, log, random: () => 0.5, open: () => failing(async () => store) },
      ({ message }) => void problems.push(message),
    );
    kept?.objects.onChange(() => (changes += 1));
    return kept;
  };
  const put = (id: string) =>
    inner.entities.write(
      [
        {
          op: 'put',
          kind: 'keys',
          id,
          doc: {},
          digests: [{ slot: 0, digest: `sha256:${id.repeat(64)}`, last4: '', validFrom: 0, validTo: undefined }],
        },
      ],
      ANN,
    );
  return {
    clock,
    open,
    put,
    problems,
    errors,
    entities: inner.entities,
    /** The store answers it in place of the truth. */
    show: (what: typeof shown) => void (shown = what),
    fail: (code: StateFailureCode | undefined) => void (failure = code),
    changes: () => changes,
  };
}

function seen({ objects: { now } }: ReconnectingStore): string {
  return `${now.known ? 'all' : 'unknown'}: ${[...now.objects.values()].map(({ id }) => id).join(' ')}`;
}

describe('the store of a process', () => {
  it('shows its objects, and calls its listener when they have changed', async () => {
    const { open, put, changes, clock } = setUp();
    await put('b');
    const kept = (await open())!;
    expect([seen(kept), changes()]).toEqual(['all: b', 0]);
    await put('c');
    await clock.advance(0);
    expect([seen(kept), changes(), kept.reasons()]).toEqual(['all: b c', 1, []]);
    await kept.close();
  });

  it('keeps its objects for max_age while it does not answer, then refuses them, and has them again', async () => {
    const { open, put, fail, clock } = setUp();
    await put('b');
    const kept = (await open())!;
    fail('unavailable');
    await clock.advance(2 * SPAN);
    expect([seen(kept), kept.store, kept.reasons()]).toEqual(['all: b', undefined, []]);
    await clock.advance(6_000);
    expect([seen(kept), kept.reasons()]).toEqual(['unknown: b', ['state store']]);
    await put('c');
    fail(undefined);
    await clock.advance(6_000);
    expect([seen(kept), kept.reasons(), kept.store === undefined]).toEqual(['all: b c', [], false]);
    await kept.close();
  });

  it('begins with its snapshot, whose age is the time since the store last answered', async () => {
    const { open, put, fail, clock } = setUp();
    await put('b');
    const first = (await open())!;
    await clock.advance(10 * SPAN);
    await first.close();
    fail('damaged');
    await clock.advance(SPAN);
    const second = (await open())!;
    expect([seen(second), second.reasons()]).toEqual(['all: b', []]);
    await second.close();
    await clock.advance(2 * SPAN);
    const third = (await open())!;
    expect([seen(third), third.reasons()]).toEqual(['unknown: ', ['state store']]);
    await third.close();
  });

  it('has no snapshot with `keys: refuse`', async () => {
    const { open, put, fail, clock } = setUp('refuse');
    await put('b');
    const first = (await open())!;
    await first.close();
    fail('unavailable');
    const second = (await open())!;
    expect([seen(second), second.reasons()]).toEqual(['unknown: ', ['state store']]);
    fail(undefined);
    await clock.advance(6_000);
    expect(seen(second)).toBe('all: b');
    fail('unavailable');
    await clock.advance(6_000);
    expect(seen(second)).toBe('unknown: b');
    await second.close();
  });

  it.each(['in_use', 'newer_store', 'sealed', 'rolled_back'] as const)(
    'does not begin without an operator when it is %s',
    async (code) => {
      const { open, fail, problems } = setUp();
      fail(code);
      expect([await open(), problems]).toEqual([undefined, ['broken']]);
    },
  );

  it('keeps refusing what it knows as revoked when the store of several gateways went back, until an operator accepts', async () => {
    const { open, put, entities, show, clock, errors } = setUp('snapshot', 'shared');
    for (const id of ['b', 'c', 'd']) await put(id);
    const kept = (await open())!;
    await clock.advance(10);
    const { changed: before } = await entities.load(0);
    await entities.write([{ op: 'delete', kind: 'keys', id: 'c' }], ANN);
    await clock.advance(1_000);
    expect([seen(kept), kept.rolledBack]).toEqual(['all: b d', undefined]);
    // As after a failover: the last write is lost, and another gateway has written since.
    const made = { ...before[0]!, id: 'e', updatedAt: clock.wall() + 1 };
    show(({ epoch }) => ({ version: 3, epoch, changed: [...before, made], gone: [] }));
    await clock.advance(1_000);
    expect(seen(kept)).toBe('all: b d e');
    expect(kept.rolledBack).toMatchObject({ found: 3, seen: 4, reason: expect.stringContaining('accept-rollback') });
    show(({ epoch }) => ({ version: 4, epoch, changed: [...before, made], gone: [{ kind: 'keys', id: 'd' }] }));
    await clock.advance(1_000);
    expect(seen(kept)).toBe('all: b e');
    await kept.close();
    // A start knows it from the snapshot.
    const again = (await open())!;
    await clock.advance(1_000);
    expect([seen(again), again.rolledBack?.seen]).toEqual(['all: b e', 4]);
    const epoch = { id: 'f'.repeat(32), at: clock.wall(), accepted: true };
    show(() => ({ version: 4, epoch, changed: [...before, made], gone: [] }));
    await clock.advance(1_000);
    expect([seen(again).split(' ').toSorted(), again.rolledBack]).toEqual([['all:', 'b', 'c', 'd', 'e'], undefined]);
    expect(errors.filter((message) => message.includes('went back'))).toHaveLength(2);
    await again.close();
  });

  it('that only this gateway writes does not answer while it is behind', async () => {
    const { open, put, show, clock, problems } = setUp();
    await put('b');
    await put('c');
    const kept = (await open())!;
    show(({ changed }) => ({ version: 1, changed: changed.slice(0, 1) }));
    await clock.advance(5_000);
    expect([seen(kept), kept.store, kept.rolledBack?.found]).toEqual(['all: b c', undefined, 1]);
    await kept.close();
    expect([await open(), problems]).toEqual([
      undefined,
      [expect.stringContaining('has version 1, and this gateway has seen version 2')],
    ]);
  });
});
