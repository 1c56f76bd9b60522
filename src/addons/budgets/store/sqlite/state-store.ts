import type { Clock } from '../../../../plugin/index.ts';
import type { Audit } from '../../../../core/ports/audit.ts';
import type { Counters, CounterRef, CounterState } from '../../../../core/ports/counters.ts';
import type { Entities, Version } from '../../../../core/ports/entities.ts';
import type { Ledger, LedgerQuery, LedgerRow } from '../../../../core/ports/ledger.ts';
import { rowsAsText } from '../rules/row-cells.ts';
import type { StateStore } from '../../../../core/ports/store.ts';
import type { EngineOptions } from './engine.ts';
import type { LedgerPlace } from './ledger.ts';
import { HealingThread } from './healing-thread.ts';
import { StoreThread } from './store-thread.ts';

/**
 * Opens a store in a folder: a thread of its own, which is the folder's only owner, and another one for long reads, which leases and
 * writes need not wait for. Most gateways never read: the first read begins it. `load`, by which the process looks after its store, heals it.
 */
export async function openSqliteStore(
  options: Omit<EngineOptions, 'now' | 'onlyReads'>,
  clock: Clock,
): Promise<StateStore> {
  const all = { ...options, now: clock.wall() };
  const open = (): Promise<StoreThread> => StoreThread.open({ ...all, now: clock.wall() }, clock);
  const reader = new HealingThread({
    open: () => StoreThread.open({ ...all, onlyReads: true }, clock),
    heals: () => true,
  });
  const first = await open();
  const again = (): Promise<StoreThread> => {
    // The files may be others than before.
    reader.renew();
    return open();
  };
  const thread = new HealingThread({ open: again, heals: (call) => call === 'load' }, first);
  return storeOver(thread, reader, async () => {
    await reader.close();
    await thread.close();
  });
}

type Calls = Pick<HealingThread, 'call'>;

export const storeOver = (thread: Calls, reader: Calls, close: () => Promise<void>): StateStore => ({
  entities: entitiesOf(thread),
  counters: countersOf(thread),
  ledger: ledgerOf(thread, reader),
  audit: auditOf(thread, reader),
  idempotency: {
    find: (actor, key) => thread.call('findAnswer', actor, key),
    keep: (answer) => thread.call('keepAnswer', answer),
  },
  boots: {
    seen: (boot, shown) => thread.call('seenBoot', boot, shown),
    live: () => thread.call('liveBoots'),
    ended: (boot) => thread.call('endBoot', boot),
  },
  claims: {
    take: (wish) => thread.call('takeClaim', wish),
    find: (name) => thread.call('findClaim', name),
    end: (name, holder) => thread.call('endClaim', name, holder),
  },
  outbox: {
    add: (events) => thread.call('addEvents', events),
    take: (to, most, ms) => thread.call('takeEvents', to, most, ms),
    done: (events) => thread.call('endEvents', events),
    again: (event, ms) => thread.call('eventAgain', event, ms),
    waiting: async () => new Map(await thread.call('eventsWaiting')),
  },
  backup: (folder) => thread.call('backup', folder),
  close,
});

/** All writes of the store go through this process, so it hints at them itself. */
function entitiesOf(thread: Calls): Entities {
  const watchers = new Set<(version: Version) => void>();
  return {
    load: (since) => thread.call('load', since),
    async write(changes, by) {
      const version = await thread.call('write', changes, by);
      for (const watcher of watchers) watcher(version);
      return version;
    },
    begin: (epoch, by) => thread.call('begin', epoch, by),
    unseal: (ref, field) => thread.call('unseal', ref, field),
    watch(hint) {
      watchers.add(hint);
      return () => void watchers.delete(hint);
    },
    seen: (uses) => thread.call('seen', uses),
    lastUses: (keyIds) => thread.call('lastUses', keyIds),
  };
}

const countersOf = (thread: Calls): Counters => ({
  take: (requests, by, batch) => thread.call('take', requests, by, batch),
  report: (used, by) => thread.call('report', used, by),
  giveBack: (leases, by, last) => thread.call('giveBack', leases, by, last),
  reap: (boot) => thread.call('reap', boot),
  adjust: (adjustment, by) => thread.call('adjust', adjustment, by),
  read: (counters) => thread.call('read', counters),
  notify: (counter, bit) => thread.call('notify', counter, bit),
  all: () => allCounters(thread),
  forget: (ageMs) => thread.call('forget', ageMs),
});

async function* allCounters(thread: Calls): AsyncIterable<readonly CounterState[]> {
  let last: CounterRef | undefined;
  for (;;) {
    const piece = await thread.call('countersAfter', last);
    if (piece.length === 0) return;
    yield piece;
    last = piece.at(-1);
  }
}

const ledgerOf = (thread: Calls, reader: Calls): Ledger => ({
  append: (rows) => thread.call('append', rowsAsText(rows)),
  rollups: (query) => reader.call('rollups', query),
  rows: (query) => rowsOf(reader, query),
  dropBefore: (day) => thread.call('dropBefore', day),
  foldOldest: (day) => thread.call('foldOldest', day),
  forgetSums: (day) => thread.call('forgetSums', day),
  days: () => thread.call('days'),
});

async function* rowsOf(reader: Calls, query: LedgerQuery): AsyncIterable<readonly LedgerRow[]> {
  let place: LedgerPlace | undefined;
  do {
    const { rows, next } = await reader.call('rowsAfter', query, place);
    if (rows.length > 0) yield rows;
    place = next;
  } while (place);
}

const auditOf = (thread: Calls, reader: Calls): Audit => ({
  add: (event, by) => thread.call('addAudit', event, by),
  rows: (query) => reader.call('auditRows', query),
  verify: (known) => reader.call('verifyAudit', known),
  dropBefore: (at, by) => thread.call('dropAudit', at, by),
});
