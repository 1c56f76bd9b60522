import { LEDGER_DIMENSIONS } from '../../../../core/ports/ledger.ts';
import {
  configs,
  oneOf,
  parse,
  required,
  UsageError,
  type Command,
} from '../../../../core/commands/terminal/arguments.ts';

const DAY_MS = 86_400_000;

/** `gatehouse ledger …`, by name. */
export const ledgerCommands: readonly (readonly [string, Command])[] = [
  [
    'ledger export',
    {
      usage:
        'ledger export --from DAY [--to DAY] [--by NAMES] [--step hour|day|all] [--format csv|jsonl] [--configs DIR]',
      help: `Print the rows of the ledger, or with --by their sums by names such as team,model, of:\n${LEDGER_DIMENSIONS.join(', ')}.\nDays are UTC such as 2026-11-01; --to is not included, default: tomorrow. The gateway may run`,
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
        const by = values.by?.split(',').map((name) => oneOf('by', name, LEDGER_DIMENSIONS));
        if (by && new Set(by).size < by.length) throw new UsageError('--by has a name twice');
        const step = oneOf('step', values.step, ['hour', 'day', 'all']);
        const format = oneOf('format', values.format, ['csv', 'jsonl']);
        const { exportLedgerCommand } = await import('./export.ts');
        return exportLedgerCommand({ ...world, dir: values.configs, from, to, by, step, format });
      },
    },
  ],
];

function dayOf(option: string, text: string): number {
  const at = /^20\d\d-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  if (Number.isNaN(at)) throw new UsageError(`--${option} must be a day such as 2026-11-01, not ${text}`);
  return at;
}
