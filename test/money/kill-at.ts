/**
 * Loaded before a gateway (`node --import`): the process kills itself at one chosen step of a request's money. It wraps the methods that do
 * these steps; what they do stays as it is.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { RequestLedger } from '../../src/addons/budgets/ledger/request-ledger.ts';
import { Reservations } from '../../src/addons/budgets/limits/reservations.ts';
import { Spool } from '../../src/addons/budgets/store/spool/spool.ts';
import { Database } from '../../src/addons/budgets/store/sqlite/database.ts';
import { StoreThread } from '../../src/addons/budgets/store/sqlite/store-thread.ts';
import type { KillMoment, KillStep } from './kill-points.ts';

interface Point {
  readonly step: KillStep;
  readonly moment: KillMoment;
  readonly nth: number;
}

const { step, moment, nth } = JSON.parse(process.env['GATEHOUSE_KILL_AT'] ?? '{}') as Point;
let seen = 0;

const die = (): void => void process.kill(process.pid, 'SIGKILL');

/** True: this is the occurrence. */
const isNow = (): boolean => (seen += 1) === nth;

type Method = (this: unknown, ...args: never[]) => unknown;

/** @param isMeant among the calls of the method */
function wrap(type: { readonly prototype: object }, name: string, isMeant = (..._: readonly unknown[]) => true): void {
  const prototype = type.prototype as Record<string, Method>;
  const method = prototype[name]!;
  prototype[name] = function wrapped(...args) {
    if (!isMeant(...args) || !isNow()) return method.apply(this, args);
    if (moment === 'before') die();
    if (moment === 'half') halveNextWrite();
    const result = method.apply(this, args);
    if (moment === 'sent') setImmediate(die);
    else if (result instanceof Promise) return result.finally(die);
    else die();
    return result;
  };
}

/** A write that the system took half of before the process ended. */
function halveNextWrite(): void {
  const { writeSync } = fs;
  const writeHalf = (file: number, bytes: Buffer, from: number, length: number): number => {
    writeSync(file, bytes, from, Math.floor(length / 2));
    die();
    return 0;
  };
  // As the spool calls it: a part of a buffer.
  fs.writeSync = writeHalf as unknown as typeof fs.writeSync;
  syncBuiltinESMExports();
}

const WRAPPED: Readonly<Record<KillStep, () => void>> = {
  reserve: () => wrap(Reservations, 'reserve'),
  send: () => wrap(RequestLedger, 'send'),
  spool: () => wrap(Spool, 'write'),
  segment: () => wrap(Spool, 'begin'),
  settle: () => wrap(Reservations, 'settle'),
  'note settle': () => wrap(RequestLedger, 'settle'),
  record: () => wrap(RequestLedger, 'add'),
  append: () => wrap(StoreThread, 'call', (name) => name === 'append'),
  // The store's own thread, of which each transaction ends so.
  commit: () => wrap(Database, 'exec', (sql) => sql === 'COMMIT'),
  take: () => wrap(StoreThread, 'call', (name) => name === 'take'),
  report: () => wrap(StoreThread, 'call', (name) => name === 'report'),
};

// The thread loads this module too; a worker process kills itself alone.
if (step !== undefined && (step === 'commit') !== isMainThread) WRAPPED[step]();
