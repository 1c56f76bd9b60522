import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Output } from '../../../../core/commands/terminal/output.ts';
import type { AuditVerdict } from '../../../../core/ports/audit.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { ROLLUP_DIMENSIONS, type LedgerRow, type RollupQuery, type RollupRow } from '../../../../core/ports/ledger.ts';
import type { MovedTable, MoveSource, MoveTarget } from '../../../../core/ports/store-move.ts';
import { driverOf, type DriverTools } from '../../../../core/ports/store-driver.ts';
import { systemClock } from '../../../../core/kernel/system-clock.ts';
import { DAY_MS, dayOf, startOfDay } from '../../store/rules/rollup-cells.ts';
import { spoolsIn } from '../../store/spool/read-spool.ts';
import { onStore, type ExitCode, type FoundStore, type StateOptions } from './read.ts';

const FROM = 'sqlite';
const BATCH = 2_000;
/** Sums of all times. */
const EVER = { from: 0, to: Date.UTC(2100, 0, 1), by: [], step: 'all' } as const;

interface MoveOptions extends StateOptions {
  /** The type of `state.store`, which takes over. */
  readonly to: string;
  /** The folder of the store that moves. Default: `state.dir`. */
  readonly from: string | undefined;
  readonly dryRun: boolean;
}

interface Move extends MoveOptions {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  readonly folder: string;
  readonly name: string;
}

/** `gatehouse state migrate --to TYPE`: the store of a folder moves to the one of the settings. May be interrupted and called again. */
export const moveCommand = (options: MoveOptions): Promise<0 | 1 | 2> =>
  onStore(options, async (found): Promise<ExitCode> => {
    const { to, dryRun } = options;
    const { state, driver, name } = found;
    const folder = options.from ?? state.dir ?? '';
    if (driver.type !== to)
      throw new StateFailure(
        'invalid',
        `\`state.store\` of server.yaml has the type ${driver.type}: write the store of type ${to} there first, to which this one moves`,
      );
    checkSpool(found, folder);
    const tools: DriverTools = { clock: systemClock, keys: state.encryptionKeys?.reveal() ?? '' };
    if (!driver.moveTo) throw new StateFailure('invalid', `no store moves to one of type ${to}`);
    const source = await driverOf({ type: FROM }).moveFrom!(folder, tools, !dryRun);
    try {
      const target = await driver.moveTo(state.store, tools);
      try {
        return await (dryRun ? show : move)({ ...options, source, target, folder, name });
      } finally {
        await target.close();
      }
    } finally {
      source.close();
    }
  });

/** The first gateway on a folder replays the spools in it, which have rows that no store has yet: they have to come along. */
function checkSpool({ state }: FoundStore, folder: string): void {
  const [left] = resolve(state.dir ?? '') === resolve(folder) ? [] : spoolsIn(folder);
  if (left !== undefined)
    throw new StateFailure(
      'invalid',
      `${left} has what no store has yet: start and stop a gateway on ${folder} first, or let \`state.dir\` be ${folder}`,
    );
}

async function show({ source, target, folder, name, out, err }: Move): Promise<ExitCode> {
  if ((await target.state(epochOf(source))) === 'other') throw otherStore(name);
  const verdict = source.verify();
  const days = source.days();
  const rows = days.reduce((sum, day) => sum + source.countRows(day), 0);
  out(
    `${folder} would move to ${name}: ${contentsOf(source, verdict)}, ${rows} rows of the ledger in ${days.length} days, ${usd(source.rollups(EVER)[0])}\n`,
  );
  return exitOf(verdict, err);
}

async function move(parts: Move): Promise<ExitCode> {
  const { source, target, folder, name, out, err } = parts;
  const state = await target.state(epochOf(source));
  if (state === 'other') throw otherStore(name);
  if (state === 'done') {
    if (!source.isMarked)
      throw new StateFailure('conflict', `${name} has the store of ${folder}, which may have been in use since`);
    source.mark(name, true);
    out(`${name}: the store of ${folder} was there\n`);
    return 0;
  }
  await target.begin(source);
  source.mark(name, false);
  await moveLedger(parts);
  const verdict = await target.finish(source, folder);
  source.mark(name, true);
  out(`${name}: ${contentsOf(source, verdict)}\n`);
  return exitOf(verdict, err);
}

/** A broken chain moves as it is: no row of it can be mended. */
function exitOf(verdict: AuditVerdict, err: Output['err']): ExitCode {
  if (!verdict.intact) err(`gatehouse: the audit of the folder was changed: row ${verdict.at}: ${verdict.reason}\n`);
  return verdict.intact ? 0 : 1;
}

/** Rows that are there already are ignored: an interrupted day is repeated. */
async function moveLedger({ source, target, name, out }: Move): Promise<void> {
  const days = new Set(source.days());
  for (const { start } of source.rollups({ ...EVER, step: 'day' })) {
    const day = dayOf(start);
    if (days.has(day)) continue;
    const sums = { from: start, to: start + DAY_MS, by: ROLLUP_DIMENSIONS, step: 'all' } as const;
    await target.putSums(day, source.rollups(sums));
    await checkSums({ source, target }, start, start + DAY_MS);
  }
  for (const day of days) {
    const from = startOfDay(day);
    const to = from + DAY_MS;
    const count = source.countRows(day);
    if ((await target.countRows(day)) !== count)
      for (const rows of batches(source.ledgerRows({ from, to }))) await target.ledger.append(rows);
    const found = await target.countRows(day);
    if (found !== count) throw new StateFailure('damaged', `${day}: ${name} has ${found} of ${count} rows`);
    out(`${day}: ${count} rows, ${usd(await checkSums({ source, target }, from, to))}\n`);
  }
  const { from, to } = EVER;
  out(`ledger: ${usd(await checkSums({ source, target }, from, to))}\n`);
}

/** Compares all sums of a time, amounts to the nano. */
async function checkSums(
  { source, target }: Pick<Move, 'source' | 'target'>,
  from: number,
  to: number,
): Promise<RollupRow | undefined> {
  const query: RollupQuery = { ...EVER, from, to };
  const sums = source.rollups(query);
  if (!isDeepStrictEqual(await target.ledger.rollups(query), sums))
    throw new StateFailure('damaged', `the sums of the ledger from ${dayOf(from)} on differ in the two stores`);
  return sums[0];
}

function* batches(pieces: Iterable<readonly LedgerRow[]>): Iterable<readonly LedgerRow[]> {
  let batch: LedgerRow[] = [];
  for (const piece of pieces) {
    batch.push(...piece);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const epochOf = (source: MoveSource): string[] => [...source.rows('epoch')].flat().map(({ id }) => String(id));

function contentsOf(source: MoveSource, verdict: AuditVerdict): string {
  const count = (table: MovedTable): number => {
    let found = 0;
    // A deleted object leaves its id.
    for (const rows of source.rows(table)) found += rows.filter(({ gone }) => gone !== 1).length;
    return found;
  };
  const head = verdict.intact ? ` (the last is ${verdict.seq}:${verdict.head})` : '';
  return `${count('entity')} objects, ${count('counter')} counters, ${count('audit')} rows of the audit${head}`;
}

const usd = (sums: RollupRow | undefined): string => `${((sums?.nano ?? 0) / 1e9).toFixed(9)} USD`;

const otherStore = (name: string): StateFailure =>
  new StateFailure('conflict', `${name} has a store of its own: name an empty schema in \`state.store\``);
