import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { ANN, NOON } from '../store/contract/opened-store.testkit.ts';
import { StateFailure, type StateFailureCode } from '../../../core/ports/failures.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { sameThreadStore } from '../store/sqlite/same-thread-store.testkit.ts';
import { ReconnectingStore } from './reconnecting-store.ts';

const SPAN = 300_000;

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'gatehouse-kept-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** A store whose answers can fail, under a process that starts again and again. */
function setUp(keys: 'snapshot' | 'refuse' = 'snapshot') {
  const clock = createFakeClock(NOON);
  const inner = sameThreadStore(clock);
  const problems: string[] = [];
  let failure: StateFailureCode | undefined;
  let changes = 0;
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
      load: (since) => failing(() => inner.entities.load(since)),
      watch: (hint) => inner.entities.watch(hint),
    },
  };
  const settings = {
    store: { type: 'sqlite', dir: folder },
    dir: folder,
    owns: ['keys'],
    encryptionKeys: undefined,
    peppers: undefined,
    backup: undefined,
    timeZone: 'UTC',
    whenDown: { keys, maxAgeMs: 2 * SPAN, budgets: 'refuse' },
    retention: { ledger: 400, hours: 35, sums: 1096, audit: 2557 },
  } as const;
  const log = { info() {}, warn() {}, error() {} };
  const open = async (): Promise<ReconnectingStore | undefined> => {
    const kept = await ReconnectingStore.open(
      { settings, clock, log, open: () => failing(async () => store) },
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
});
