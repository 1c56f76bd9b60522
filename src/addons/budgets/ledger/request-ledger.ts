import type { Clock } from '../../../plugin/index.ts';
import type { Account } from '../limits/accounts.ts';
import type { Amounts } from '../limits/reservations.ts';
import type { CostLedger } from '../../../core/record/recorder.ts';
import type { Payer } from '../../../core/record/costs.ts';
import type { RequestRecord } from '../../../core/record/record.ts';
import type { Boot } from '../../../core/ports/counters.ts';
import type { Ledger, LedgerRow } from '../../../core/ports/ledger.ts';
import { Spool, type SpoolSegment } from '../store/spool/spool.ts';
import { LineBytes } from '../store/spool/line-bytes.ts';
import { SpoolLineWriter } from '../store/spool/spool-lines.ts';
import { rowsOf } from './ledger-rows.ts';
import type { LedgerReports } from './reports.ts';
import { RowQueue } from './row-queue.ts';
import { partsOf, SpooledAccounts, type SpoolEntry } from './spooled-accounts.ts';
import { toError } from '../../../core/kernel/outside/thrown.ts';

interface Sending {
  readonly hold: number;
  readonly accounts: readonly Account[];
  readonly amounts: Amounts;
  /** The row of the ledger if nothing more becomes known of it; its `nano` is the reserve. */
  readonly row: LedgerRow;
  /** Monotonic milliseconds after which the row is written. */
  readonly until: number;
}

interface FollowedSend extends Sending {
  readonly entries: readonly SpoolEntry[];
  /** The settled cost; undefined: nothing yet. */
  settled: Amounts | undefined;
  isRecorded: boolean;
  isExpired: boolean;
}

interface Closing {
  readonly holds: number[];
  readonly rows: LedgerRow[];
}

export interface RequestLedgerOptions {
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly reports: LedgerReports;
  readonly boot: Boot;
  /** Names of the metadata that rows have. Default: none. */
  readonly labels?: readonly string[] | undefined;
  /** The folder of a state store on disk. Undefined: what a process had not written ends with it. */
  readonly folder?: string | undefined;
  /** Runs a task at the end of this turn of the event loop. */
  readonly endOfTurn: (task: () => void) => void;
  /** Smaller limits, for tests. */
  readonly limits?: { readonly maxBytes?: number; readonly segmentBytes?: number } | undefined;
}

/** After a failure of the spool. */
const AGAIN_MS = 1000;
/** An end is written with the next send or after so long: one write each costs twice (measured). Killed meanwhile: its reserve. */
const GATHER_MS = 50;
const MAX_CLOSING = 500;
/** Sends whose time has passed are looked for this often. */
const SWEEP_MS = 5000;
/** Sends that the ledger follows; further ones leave no trace if their process is killed. */
const MAX_SENDS = 200_000;
/** Expired sends whose late end would still correct them. */
const MAX_EXPIRED = 10_000;

/** The ledger of the requests of one process. In its spool on disk, what has left and what has ended survives the process. */
export class RequestLedger implements CostLedger {
  /** Sorted. */
  readonly labels: readonly string[];
  readonly #options: RequestLedgerOptions;
  readonly #spool: Spool | undefined;
  readonly #queue: RowQueue;
  readonly #accounts = new SpooledAccounts();
  readonly #writer = new SpoolLineWriter();
  readonly #sends = new Map<number, FollowedSend>();
  /** Holds by the request's id in the ledger. */
  readonly #holds = new Map<string, number[]>();
  #expired = 0;
  readonly #lines = new LineBytes();
  #closing: Closing | undefined;
  #isTimed = false;
  #turn: PromiseWithResolvers<void> | undefined;
  #failedUntil: number | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: RequestLedgerOptions) {
    const { clock, ledger, reports, folder, boot, limits } = options;
    this.#options = options;
    this.labels = (options.labels ?? NONE).toSorted();
    const checkpoint = (to: LineBytes): void => this.#checkpoint(to);
    this.#spool =
      folder === undefined ? undefined : new Spool({ folder, boot, pid: process.pid, checkpoint, ...limits });
    this.#queue = new RowQueue({ clock, ledger, reports, spool: this.#spool, newSegment: () => this.#newSegment() });
  }

  /** Settled requests can be written nowhere, and the memory has no more room for them. */
  get isFull(): boolean {
    return this.#queue.isFull;
  }

  /** Resolves when the notes of this turn are written, or cannot be. Undefined: there is no spool, so that nothing need wait. */
  written(): Promise<void> | undefined {
    return this.#spool && this.#lines.length > 0 ? this.#endOfTurn().promise : undefined;
  }

  /** A request is about to leave. The caller awaits `written` before its bytes do. */
  send(sending: Sending): void {
    if (this.#sends.size >= MAX_SENDS) return;
    const { hold, row, accounts, amounts, until } = sending;
    const send: FollowedSend = {
      hold,
      accounts,
      entries: this.#spool ? this.#accounts.entriesOf(accounts, this.#lines) : NONE,
      amounts,
      row,
      until,
      settled: undefined,
      isRecorded: false,
      isExpired: false,
    };
    this.#sends.set(hold, send);
    const others = this.#holds.get(row.req);
    if (others) others.push(hold);
    else this.#holds.set(row.req, [hold]);
    this.#stopTimer ??= this.#options.clock.after(SWEEP_MS, this.#sweep);
    if (!this.#spool) return;
    this.#writeSend(this.#lines, send);
    void this.#endOfTurn();
  }

  /** An account asks for a lease, or has one: if the process is killed before it is used, the next owner of the spool gives it back all the same. */
  noteLease(account: Account): void {
    if (!this.#spool) return;
    this.#accounts.entriesOf([account], this.#lines);
    void this.#endOfTurn();
  }

  /** The request has ended. What it cost on its accounts is written together with its rows. */
  settle(hold: number, amounts: Amounts): void {
    const send = this.#sends.get(hold);
    if (!send) return;
    send.settled = amounts;
    if (send.isRecorded) this.#end(send);
  }

  add(record: RequestRecord, payer: Payer): void {
    const holds = this.#holds.get(payer.req) ?? NONE;
    const heldOf = (number: number): number => this.#heldOf(holds, number);
    const rows = rowsOf(record, { payer, heldOf, labels: this.labels });
    if (rows.length > 0) this.#close().rows.push(...rows);
    // An end replaces the list.
    for (const hold of holds) {
      const send = this.#sends.get(hold);
      if (!send) continue;
      send.isRecorded = true;
      if (send.settled) this.#end(send);
    }
  }

  #heldOf(holds: readonly number[], attempt: number): number {
    for (const hold of holds) {
      const row = this.#sends.get(hold)?.row;
      if (row?.att === attempt) return row.held;
    }
    return 0;
  }

  /** Writes everything, as far as the disk and the store take it. The spool stays if anything is left for its next owner. */
  async close(): Promise<void> {
    this.#stopTimer?.();
    this.#write();
    await this.#queue.close();
    this.#spool?.close(this.#queue.size === 0 && this.#sends.size === 0 && this.#accounts.areClosed());
  }

  #end(send: FollowedSend): void {
    const { hold, row, entries, amounts, settled = NOTHING, isExpired } = send;
    this.#sends.delete(hold);
    const holds = this.#holds.get(row.req) ?? NONE;
    if (holds.length > 1)
      this.#holds.set(
        row.req,
        holds.filter((other) => other !== hold),
      );
    else this.#holds.delete(row.req);
    const closing = this.#close();
    if (!isExpired) {
      closing.holds.push(hold);
      this.#accounts.close(entries, settled);
      return;
    }
    // Its reserve is in the ledger already. Rows are never edited: another takes it back.
    this.#expired -= 1;
    this.#accounts.close(entries, { usd: settled.usd - amounts.usd, tokens: settled.tokens - amounts.tokens });
    if (row.nano > 0) closing.rows.push({ ...row, kind: 'adjustment', nano: -row.nano, held: 0 });
  }

  readonly #sweep = (): void => {
    this.#stopTimer = undefined;
    const now = this.#options.clock.now();
    let expired = 0;
    for (const send of this.#sends.values()) {
      if (send.until > now || send.isExpired) continue;
      expired += 1;
      this.#expire(send);
    }
    if (expired > 0) this.#options.reports.expired(expired);
    for (const send of this.#sends.values()) {
      if (this.#expired <= MAX_EXPIRED) break;
      if (!send.isExpired) continue;
      this.#expired -= 1;
      this.#sends.delete(send.hold);
      this.#holds.delete(send.row.req);
    }
    if (this.#sends.size > 0) this.#stopTimer = this.#options.clock.after(SWEEP_MS, this.#sweep);
  };

  #expire(send: FollowedSend): void {
    send.isExpired = true;
    this.#expired += 1;
    const closing = this.#close();
    closing.holds.push(send.hold);
    this.#accounts.close(send.entries, send.amounts);
    closing.rows.push(send.row);
  }

  #close(): Closing {
    const closing = (this.#closing ??= { holds: [], rows: [] });
    if (closing.holds.length + closing.rows.length >= MAX_CLOSING) void this.#endOfTurn();
    else if (!this.#isTimed) {
      this.#isTimed = true;
      this.#options.clock.after(GATHER_MS, this.#gathered);
    }
    return closing;
  }

  readonly #gathered = (): void => {
    this.#isTimed = false;
    if (this.#closing) this.#write();
  };

  #endOfTurn(): PromiseWithResolvers<void> {
    if (this.#turn) return this.#turn;
    this.#options.endOfTurn(this.#write);
    return (this.#turn = Promise.withResolvers<void>());
  }

  readonly #write = (): void => {
    const turn = this.#turn;
    this.#turn = undefined;
    const closing = this.#closing;
    this.#closing = undefined;
    const segment =
      this.#spool && (this.#lines.length > 0 || closing) ? this.#writeSpool(this.#spool, closing) : undefined;
    this.#lines.clear();
    if (closing && closing.rows.length > 0) this.#queue.add(closing.rows, segment);
    turn?.resolve();
  };

  /** Undefined: the spool cannot be written. Its next checkpoint has what happens meanwhile, except the rows. */
  #writeSpool(spool: Spool, closing: Closing | undefined): SpoolSegment | undefined {
    const isPaused = this.#failedUntil !== undefined && this.#options.clock.now() < this.#failedUntil;
    // Before the lines, because their rows keep the segment that has them.
    const isReady =
      !isPaused && (spool.isOpen && !spool.isLong ? true : this.#try(() => this.#begin(spool)) !== undefined);
    // A checkpoint has what earlier turns have used, and the lines below have this one's.
    if (closing) this.#writer.end(this.#lines, { ...closing, accounts: this.#accounts.count() });
    return isReady ? this.#try(() => spool.write(this.#lines)) : undefined;
  }

  #try(write: () => SpoolSegment): SpoolSegment | undefined {
    const { clock, reports } = this.#options;
    try {
      const segment = write();
      reports.spoolBytes(this.#spool!.bytes);
      return segment;
    } catch (error) {
      reports.failed('spool', toError(error), this.#failedUntil === undefined);
      this.#failedUntil = clock.now() + AGAIN_MS;
      return undefined;
    }
  }

  #begin(spool: Spool): SpoolSegment {
    const segment = spool.begin();
    const rows = this.#queue.unspooled();
    if (rows.length > 0) {
      const lines = new LineBytes();
      this.#writer.end(lines, { holds: [], accounts: [], rows });
      this.#queue.spooled(spool.write(lines));
    }
    if (this.#failedUntil !== undefined) this.#options.reports.recovered('spool');
    this.#failedUntil = undefined;
    return segment;
  }

  /** A request that has ended in this turn and is not written yet would be in neither segment. */
  #newSegment(): void {
    this.#write();
    this.#spool?.begin();
  }

  #writeSend(to: LineBytes, { hold, entries, amounts, row }: FollowedSend): void {
    this.#writer.send(to, { hold, accounts: partsOf(entries, amounts), row });
  }

  #checkpoint(to: LineBytes): void {
    this.#accounts.checkpoint(to);
    for (const send of this.#sends.values()) if (!send.isExpired) this.#writeSend(to, send);
  }
}

const NONE: readonly never[] = [];
const NOTHING: Amounts = { usd: 0, tokens: 0 };
