import {
  configs,
  oneOf,
  parse,
  required,
  UsageError,
  type Command,
  type World,
} from '../../../../core/commands/terminal/arguments.ts';

type NamedCommand = readonly [string, Command];
type StoreCommand<More = object> = (options: World & { readonly dir: string } & More) => Promise<number>;

/** `gatehouse state …`, by name. */
export const stateCommands: readonly NamedCommand[] = [
  [
    'state migrate',
    {
      usage: 'state migrate [--configs DIR] [--dry-run]',
      help: 'Bring the tables of the state store to this release, and move to it the keys, teams,\norganizations, prices and alerts of the files that `state.owns` lists. The gateway must not run',
      async run(args, world) {
        const options = { ...configs, 'dry-run': { type: 'boolean', default: false } } as const;
        const { configs: dir, 'dry-run': dryRun } = parse(args, options).values;
        const { migrateCommand } = await import('./files-and-store.ts');
        return migrateCommand({ ...world, dir, dryRun });
      },
    },
  ],
  [
    'state export',
    {
      usage: 'state export [--configs DIR] [--kind KIND]',
      help: 'Print the objects and counters of the state store as JSON lines, without secrets. --kind: only one, such as\nkeys or counters',
      async run(args, world) {
        const { configs: dir, kind } = parse(args, { ...configs, kind: { type: 'string' } }).values;
        const { exportCommand, EXPORT_KINDS } = await import('./export-import.ts');
        return exportCommand({
          ...world,
          dir,
          kind: kind === undefined ? undefined : oneOf('kind', kind, EXPORT_KINDS),
        });
      },
    },
  ],
  [
    'state import',
    {
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
        const { importCommand } = await import('./export-import.ts');
        const { OWNED_KINDS } = await import('../../../../core/ports/entities.ts');
        const kind = values.kind === undefined ? undefined : oneOf('kind', values.kind, OWNED_KINDS);
        return importCommand({ ...world, dir: values.configs, file, kind, dryRun: values['dry-run'] });
      },
    },
  ],
  storeCommand(
    'accept-rollback',
    'Accept that the state store has an earlier version than the gateway has seen, as after a restore. Keys that\nwere revoked since are valid again. The gateway must not run',
    async () => (await import('./backup.ts')).acceptRollbackCommand,
  ),
  storeCommand(
    'diff',
    'List which keys, teams, organizations, prices and alerts the files have, and which the state store.\nExit code 1: some are in both, which refuses the start',
    async () => (await import('./files-and-store.ts')).diffCommand,
  ),
  copyCommand(
    'backup',
    'Copy the state store to a new folder. The gateway may run',
    async () => (await import('./backup.ts')).backupCommand,
  ),
  copyCommand(
    'restore',
    'Put a backup where `state.store` has no store yet, and check it. The gateway must not run',
    async () => (await import('./backup.ts')).restoreCommand,
  ),
  [
    'state verify',
    {
      usage: 'state verify [--configs DIR] [--head SEQ:HASH]',
      help: 'Check that no row of the audit was changed, removed or swapped. Exit code 1: one was. --head: the row that\nwas the last one at some time, as the log has it; without it, removed rows at the end are not found',
      async run(args, world) {
        const { configs: dir, head } = parse(args, { ...configs, head: { type: 'string' } }).values;
        const { verifyCommand } = await import('./backup.ts');
        const { readKnownRow } = await import('../../../../core/ports/audit.ts');
        const known = head === undefined ? undefined : readKnownRow(head);
        if (head !== undefined && !known)
          throw new UsageError('--head is SEQ:HASH of an audit row, as the log has them');
        return verifyCommand({ ...world, dir, head: known });
      },
    },
  ],
];

/** A command on the store of a settings folder. @param load imports its module when the command is called */
function storeCommand(name: string, help: string, load: () => Promise<StoreCommand>): NamedCommand {
  return [
    `state ${name}`,
    {
      usage: `state ${name} [--configs DIR]`,
      help,
      async run(args, world) {
        const { configs: dir } = parse(args, configs).values;
        const command = await load();
        return command({ ...world, dir });
      },
    },
  ];
}

/** A command on the store of a settings folder and a copy of it. */
function copyCommand(
  name: string,
  help: string,
  load: () => Promise<StoreCommand<{ readonly copy: string }>>,
): NamedCommand {
  return [
    `state ${name}`,
    {
      usage: `state ${name} DIR [--configs DIR]`,
      help,
      async run(args, world) {
        const { positionals, values } = parse(args, configs, 1);
        const copy = required(positionals[0], `state ${name} needs the folder of the backup`);
        const command = await load();
        return command({ ...world, dir: values.configs, copy });
      },
    },
  ];
}
