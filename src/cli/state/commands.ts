import { configs, oneOf, parse, UsageError, type Command } from '../arguments.ts';

/** `gatehouse state …`, by name. */
export const stateCommands: readonly (readonly [string, Command])[] = [
  [
    'state migrate',
    {
      usage: 'state migrate [--configs DIR] [--dry-run]',
      help: 'Bring the tables of the state store to this release, and move to it the keys, teams,\norganizations, prices and alerts of the files that `state.owns` lists. The gateway must not run',
      async run(args, world) {
        const options = { ...configs, 'dry-run': { type: 'boolean', default: false } } as const;
        const { configs: dir, 'dry-run': dryRun } = parse(args, options).values;
        const { migrateCommand } = await import('./migrate.ts');
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
        const { exportCommand, EXPORT_KINDS } = await import('./export.ts');
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
        const [file] = positionals;
        if (file === undefined) throw new UsageError('state import needs the file of an export');
        const { importCommand } = await import('./import.ts');
        const { OWNED_KINDS } = await import('../../state/entities.ts');
        const kind = values.kind === undefined ? undefined : oneOf('kind', values.kind, OWNED_KINDS);
        return importCommand({ ...world, dir: values.configs, file, kind, dryRun: values['dry-run'] });
      },
    },
  ],
  [
    'state accept-rollback',
    {
      usage: 'state accept-rollback [--configs DIR]',
      help: 'Accept that the state store has an earlier version than the gateway has seen, as after a restore. Keys that\nwere revoked since are valid again. The gateway must not run',
      async run(args, world) {
        const { configs: dir } = parse(args, configs).values;
        const { acceptRollbackCommand } = await import('./accept-rollback.ts');
        return acceptRollbackCommand({ ...world, dir });
      },
    },
  ],
  [
    'state diff',
    {
      usage: 'state diff [--configs DIR]',
      help: 'List which keys, teams, organizations, prices and alerts the files have, and which the state store.\nExit code 1: some are in both, which refuses the start',
      async run(args, world) {
        const { configs: dir } = parse(args, configs).values;
        const { diffCommand } = await import('./diff.ts');
        return diffCommand({ ...world, dir });
      },
    },
  ],
  [
    'state backup',
    {
      usage: 'state backup DIR [--configs DIR]',
      help: 'Copy the state store to a new folder. The gateway may run',
      async run(args, world) {
        const { copy, dir } = copyAndConfigs(args, 'backup');
        const { backupCommand } = await import('./backup.ts');
        return backupCommand({ ...world, dir, copy });
      },
    },
  ],
  [
    'state restore',
    {
      usage: 'state restore DIR [--configs DIR]',
      help: 'Put a backup where `state.store` has no store yet, and check it. The gateway must not run',
      async run(args, world) {
        const { copy, dir } = copyAndConfigs(args, 'restore');
        const { restoreCommand } = await import('./backup.ts');
        return restoreCommand({ ...world, dir, copy });
      },
    },
  ],
  [
    'state verify',
    {
      usage: 'state verify [--configs DIR]',
      help: 'Check that no row of the audit was changed, removed or swapped. Exit code 1: one was',
      async run(args, world) {
        const { configs: dir } = parse(args, configs).values;
        const { verifyCommand } = await import('./backup.ts');
        return verifyCommand({ ...world, dir });
      },
    },
  ],
];

function copyAndConfigs(args: string[], action: string): { readonly copy: string; readonly dir: string } {
  const { positionals, values } = parse(args, configs, 1);
  const [copy] = positionals;
  if (copy === undefined) throw new UsageError(`state ${action} needs the folder of the backup`);
  return { copy, dir: values.configs };
}
