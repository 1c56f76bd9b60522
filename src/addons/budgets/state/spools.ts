import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import { MAX_BATCH, MAX_NANO, type Boot } from '../../../core/ports/counters.ts';
import { readSpool, removeSpool, spoolsIn, writerOf, type SpoolState } from '../store/spool/read-spool.ts';
import { lockSpool } from '../store/spool/spool-lock.ts';
import { spoolName } from '../store/spool/spool.ts';
import type { StoreHandle } from '../../../core/ports/store-handle.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import type { LedgerRow } from '../../../core/ports/ledger.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import type { SpooledAccount } from '../store/spool/spool-lines.ts';

/** Pause after a failure of the store. */
const AGAIN_MS = 1000;
/** Pause between two looks at all spools: another gateway on the folder may have ended. */
const LOOK_MS = 60_000;

interface SpoolsSetup {
  readonly folders: readonly string[];
  readonly state: StoreHandle;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly onReplayed: (replayed: Replayed) => void;
}

/** The spools of processes that have ended, which are those that no process has locked. They are written to the store, one after the other. */
export class Spools {
  readonly #setup: SpoolsSetup;
  readonly #waiting = new Set<string>();
  #stopTimer = (): void => {};
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(setup: SpoolsSetup) {
    this.#setup = setup;
  }

  /** All spools but that of this process, from now on. */
  start(own: Boot['id']): void {
    this.#take((name) => !name.endsWith(own));
    this.#stopTimer = this.#setup.clock.after(LOOK_MS, () => this.start(own));
  }

  ended(pid: number): void {
    this.#take((name) => name.startsWith(spoolName(pid, '')));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    await this.#running;
  }

  #take(isEnded: (name: string) => boolean): void {
    const { folders, log } = this.#setup;
    try {
      for (const path of folders.flatMap(spoolsIn)) if (isEnded(basename(path))) this.#waiting.add(path);
    } catch (err) {
      log.error({ err }, 'the spools of ended processes cannot be read');
    }
    this.#run();
  }

  #run(): void {
    if (this.#running || this.#closed || this.#waiting.size === 0) return;
    this.#running = this.#replayAll().finally(() => {
      this.#running = undefined;
      if (this.#waiting.size > 0) this.#setup.clock.after(AGAIN_MS, () => this.#run());
    });
  }

  async #replayAll(): Promise<void> {
    const { state, log, onReplayed } = this.#setup;
    for (const path of this.#waiting) {
      const { store } = state;
      if (!store || this.#closed) return;
      try {
        const replayed = await replayLocked(path, store);
        this.#waiting.delete(path);
        if (!replayed) continue;
        onReplayed(replayed);
        log.warn(
          { spool: basename(path), lost: replayed.lost },
          'a process had ended before the state store had everything; it has now',
        );
      } catch (err) {
        log.error(
          { err, spool: basename(path) },
          'the spool of an ended process cannot be written to the state store; another try follows',
        );
        return;
      }
    }
  }
}

const BATCH = 500;

export interface Replayed {
  readonly lost: number;
}

type ReplayTarget = Pick<StateStore, 'counters'> & { readonly ledger: Pick<StateStore['ledger'], 'append'> };

/** Undefined: its process lives, or another gateway replays it. */
async function replayLocked(path: string, store: ReplayTarget): Promise<Replayed | undefined> {
  if (!existsSync(path)) return undefined;
  const unlock = lockSpool(path);
  try {
    return unlock && (await replaySpool(path, store));
  } finally {
    unlock?.();
  }
}

/**
 * Writes what an ended process has sent and settled to the store: rows, at their reserve where no end is known, and the
 * used part of its leases. May be repeated; then removes the spool. Rejects with StateFailure.
 */
export async function replaySpool(path: string, { ledger, counters }: ReplayTarget): Promise<Replayed> {
  const writer = await writerOf(path);
  let waiting: LedgerRow[] = [];
  const flush = async (): Promise<void> => {
    const rows = waiting;
    waiting = [];
    for (let from = 0; from < rows.length; from += BATCH) await appendAll(ledger, rows.slice(from, from + BATCH));
  };
  const state = await readSpool(path, async (rows) => {
    waiting.push(...rows);
    if (waiting.length >= BATCH) await flush();
  });
  waiting.push(...state.open.map(({ row }) => row));
  await flush();
  if (writer) await settleAccounts(state, writer.boot, counters);
  removeSpool(path);
  return { lost: state.open.length };
}

/** A row that the ledger refuses, because its day was dropped, must not keep the others out. */
async function appendAll(ledger: ReplayTarget['ledger'], rows: readonly LedgerRow[]): Promise<void> {
  try {
    await ledger.append(rows);
  } catch (error) {
    if (!(error instanceof StateFailure) || error.code !== 'invalid') throw error;
    if (rows.length > 1) for (const row of rows) await appendAll(ledger, [row]);
  }
}

async function settleAccounts(state: SpoolState, boot: Boot, counters: StateStore['counters']): Promise<void> {
  const used = usedOf(state);
  const leased = used.filter(({ lease }) => lease !== 0);
  for (let from = 0; from < leased.length; from += MAX_BATCH) {
    const part = leased.slice(from, from + MAX_BATCH);
    await counters.report(
      part.map(({ lease, used: usedTotal }) => ({ lease, usedTotal })),
      boot,
    );
    await counters.giveBack(
      part.map(({ lease }) => lease),
      boot,
    );
  }
  for (const { node, period, number, used: by, lease } of used)
    if (lease === 0 && by > 0)
      await counters.adjust(
        {
          id: `spool/${boot.id}/${number}`,
          node,
          period,
          of: 'spent',
          by,
          why: 'spent without a lease by a process that ended',
        },
        { id: 'gatehouse', role: 'system' },
      );
  const last = leased.reduce((most, { lease }) => Math.max(most, lease), 0);
  await counters.giveBack([], boot, last);
}

/** The settled amounts of each account, and the reserves of requests that have left: they count at their reserve. */
function usedOf({ accounts, open }: SpoolState): readonly SpooledAccount[] {
  const used = new Map([...accounts].map(([number, account]) => [number, account.used]));
  for (const send of open)
    for (const [number, amount] of send.accounts) used.set(number, (used.get(number) ?? 0) + amount);
  const within = (total: number): number => Math.min(MAX_NANO, Math.max(0, total));
  return [...accounts.values()].map((account) => ({ ...account, used: within(used.get(account.number) ?? 0) }));
}
