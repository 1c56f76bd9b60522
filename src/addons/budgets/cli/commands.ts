import { resolve } from 'node:path';
import { ROLLUP_DIMENSIONS } from '../../../core/ports/ledger.ts';
import {
  configs,
  oneOf,
  parse,
  required,
  UsageError,
  type Command,
  type World,
} from '../../../core/commands/terminal/arguments.ts';

const DAY_MS = 86_400_000;

type Commands = Readonly<Record<string, Command>>;
type StoreCommand<More = object> = (options: World & { readonly dir: string } & More) => Promise<number>;

const AT = { at: { type: 'string' } } as const;

/** A command on the store of a settings folder. @param load imports its module when the command is called */
const storeCommand = (name: string, help: string, load: () => Promise<StoreCommand>): Command => ({
  usage: `state ${name} [--configs DIR]`,
  help,
  async run(args, world) {
    const { configs: dir } = parse(args, configs).values;
    return (await load())({ ...world, dir });
  },
});

type CopyCommand = StoreCommand<{ readonly copy: string }>;

const copyCommand = (name: string, help: string, load: () => Promise<CopyCommand>): Command => ({
  usage: `state ${name} DIR [--configs DIR]`,
  help,
  async run(args, world) {
    const { positionals, values } = parse(args, configs, 1);
    const copy = required(positionals[0], `state ${name} needs the folder of the backup`);
    return (await load())({ ...world, dir: values.configs, copy });
  },
});

const priceCommands: Commands = {
  'prices list': {
    usage: 'prices list [--configs DIR] [--model PATTERN] [--at DAY] [--format table|json]',
    help: 'List the rules of prices.yaml and the shipped prices. --at DAY: on another day than today, such as 2027-01-01',
    async run(args, world) {
      const options = {
        ...configs,
        ...AT,
        model: { type: 'string' },
        format: { type: 'string', default: 'table' },
      } as const;
      const { configs: dir, model, at, format } = parse(args, options).values;
      const { listPricesCommand } = await import('./prices/list.ts');
      return listPricesCommand({
        ...world,
        dir,
        model,
        day: readDay(at),
        format: oneOf('format', format, ['table', 'json']),
      });
    },
  },
  'prices check': {
    usage: 'prices check [--configs DIR] [--at DAY]',
    help: 'Check prices.yaml, and that every model of the catalog has a price. Exit code 0: all have one, 1: otherwise',
    async run(args, world) {
      const { configs: dir, at } = parse(args, { ...configs, ...AT }).values;
      const { checkPricesCommand } = await import('./prices/check.ts');
      return checkPricesCommand({ ...world, dir, day: readDay(at) });
    },
  },
  'prices update': {
    usage: 'prices update FILE [--configs DIR] [--dry-run]',
    help: 'Put the newer prices of FILE (as data/models.json) before the shipped ones. --dry-run: only show them',
    async run(args, world) {
      const { values, positionals } = parse(args, { ...configs, 'dry-run': { type: 'boolean' } }, 1);
      const file = required(positionals[0], 'prices update needs one FILE');
      const { updatePricesCommand } = await import('./prices/update.ts');
      return updatePricesCommand({
        ...world,
        dir: values.configs,
        file,
        dryRun: values['dry-run'] ?? false,
        day: readDay(),
      });
    },
  },
};

const stateCommands: Commands = {
  'state migrate': {
    usage: 'state migrate [--configs DIR] [--dry-run | --check | --tables] [--to postgres [--from DIR]]',
    help: 'Bring the tables of the state store to this release, and move to it the keys, teams,\norganizations, prices, alerts and providers of the files that `state.owns` lists. The gateway must not run, unless\nthe store is shared. --check: only tell whether the tables are those of this release. Exit code 1: they are not.\n--tables: move no object, as before the pods of a new release.\n--to: move a whole SQLite store, in the folder `state.dir` or --from, to the one that `state.store` names now.\nIt may be interrupted and called again',
    async run(args, world) {
      const flag = { type: 'boolean', default: false } as const;
      const text = { type: 'string' } as const;
      const {
        configs: dir,
        'dry-run': dryRun,
        check,
        tables,
        to,
        from,
      } = parse(args, { ...configs, 'dry-run': flag, check: flag, tables: flag, to: text, from: text }).values;
      if (to !== undefined) {
        if (check || tables) throw new UsageError(`--${check ? 'check' : 'tables'} and --to are two commands`);
        const { moveCommand } = await import('./state/move.ts');
        return moveCommand({ ...world, dir, dryRun, to: oneOf('to', to, ['postgres']), from: from && resolve(from) });
      }
      if (from !== undefined) throw new UsageError('--from needs --to');
      const { checkTablesCommand, migrateCommand } = await import('./state/files-and-store.ts');
      return check ? checkTablesCommand({ ...world, dir }) : migrateCommand({ ...world, dir, dryRun, tables });
    },
  },
  'state export': {
    usage: 'state export [--configs DIR] [--kind KIND]',
    help: 'Print the objects and counters of the state store as JSON lines, without secrets. --kind: only one, such as\nkeys or counters',
    async run(args, world) {
      const { configs: dir, kind } = parse(args, { ...configs, kind: { type: 'string' } }).values;
      const { exportCommand, EXPORT_KINDS } = await import('./state/export-import.ts');
      return exportCommand({
        ...world,
        dir,
        kind: kind === undefined ? undefined : oneOf('kind', kind, EXPORT_KINDS),
      });
    },
  },
  'state import': {
    usage: 'state import FILE [--configs DIR] [--kind KIND] [--dry-run]',
    help: 'Write the objects of an export to the state store: all of them or, if one cannot be written, none. The\ngateway must not run. --kind: only one, such as keys',
    async run(args, world) {
      const options = {
        ...configs,
        kind: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
      } as const;
      const { positionals, values } = parse(args, options, 1);
      const file = required(positionals[0], 'state import needs the file of an export');
      const { importCommand } = await import('./state/export-import.ts');
      const { OWNED_KINDS } = await import('../../../core/ports/entities.ts');
      const kind = values.kind === undefined ? undefined : oneOf('kind', values.kind, OWNED_KINDS);
      return importCommand({ ...world, dir: values.configs, file, kind, dryRun: values['dry-run'] });
    },
  },
  'state accept-rollback': storeCommand(
    'accept-rollback',
    'Accept that the state store has an earlier version than the gateway has seen, as after a restore. Keys that\nwere revoked since are valid again. A gateway that owns its store alone must not run',
    async () => (await import('./state/backup.ts')).acceptRollbackCommand,
  ),
  'state restored': storeCommand(
    'restored',
    'After a database server was restored with its own tools: gateways refuse what was revoked since the copy,\nuntil `state accept-rollback`',
    async () => (await import('./state/backup.ts')).restoredCommand,
  ),
  'state diff': storeCommand(
    'diff',
    'List which keys, teams, organizations, prices, alerts and providers the files have, and which the state store.\nExit code 1: some are in both, which refuses the start',
    async () => (await import('./state/files-and-store.ts')).diffCommand,
  ),
  'state backup': copyCommand(
    'backup',
    'Copy the state store to a new folder. The gateway may run',
    async () => (await import('./state/backup.ts')).backupCommand,
  ),
  'state restore': copyCommand(
    'restore',
    'Put a backup where `state.store` has no store yet, and check it. The gateway must not run',
    async () => (await import('./state/backup.ts')).restoreCommand,
  ),
  'state verify': {
    usage: 'state verify [--configs DIR] [--head SEQ:HASH]',
    help: 'Check that no row of the audit was changed, removed or swapped. Exit code 1: one was. --head: the row that\nwas the last one at some time, as the log has it; without it, removed rows at the end are not found',
    async run(args, world) {
      const { configs: dir, head } = parse(args, { ...configs, head: { type: 'string' } }).values;
      const { verifyCommand } = await import('./state/backup.ts');
      const { readKnownRow } = await import('../../../core/ports/audit.ts');
      const known = head === undefined ? undefined : readKnownRow(head);
      if (head !== undefined && !known) throw new UsageError('--head is SEQ:HASH of an audit row, as the log has them');
      return verifyCommand({ ...world, dir, head: known });
    },
  },
};

const ledgerCommands: Commands = {
  'ledger export': {
    usage:
      'ledger export --from DAY [--to DAY] [--by NAMES] [--step hour|day|all] [--format csv|jsonl] [--configs DIR]',
    help: `Print the rows of the ledger, or with --by their sums by names such as team,model, of:\n${ROLLUP_DIMENSIONS.join(', ')}.\nDays are UTC such as 2026-11-01; --to is not included, default: tomorrow. The gateway may run`,
    async run(args, world) {
      const { values } = parse(args, {
        ...configs,
        from: { type: 'string' },
        to: { type: 'string' },
        by: { type: 'string' },
        step: { type: 'string', default: 'all' },
        format: { type: 'string', default: 'csv' },
      });
      const from = dayOf('from', required(values.from, 'ledger export needs --from, such as --from 2026-11-01'));
      const to = values.to === undefined ? Date.now() + DAY_MS : dayOf('to', values.to);
      if (to < from) throw new UsageError('--to is before --from');
      const by = values.by?.split(',').map((name) => oneOf('by', name, ROLLUP_DIMENSIONS));
      if (by && new Set(by).size < by.length) throw new UsageError('--by has a name twice');
      const step = oneOf('step', values.step, ['hour', 'day', 'all']);
      const format = oneOf('format', values.format, ['csv', 'jsonl']);
      const { exportLedgerCommand } = await import('./ledger/export.ts');
      return exportLedgerCommand({ ...world, dir: values.configs, from, to, by, step, format });
    },
  },
};

export const budgetCommands: readonly (readonly [string, Command])[] = Object.entries({
  ...priceCommands,
  ...stateCommands,
  ...ledgerCommands,
});

function readDay(text = new Date().toISOString().slice(0, 10)): string {
  if (/^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new UsageError(`--at must be a day such as 2027-01-01, not ${text}`);
}

function dayOf(option: string, text: string): number {
  const at = /^20\d\d-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  if (Number.isNaN(at)) throw new UsageError(`--${option} must be a day such as 2026-11-01, not ${text}`);
  return at;
}
