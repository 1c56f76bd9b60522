import {
  configs,
  oneOf,
  parse,
  required,
  UsageError,
  type Command,
} from '../../../../core/commands/terminal/arguments.ts';

/** `gatehouse prices …`, by name. */
export const priceCommands: readonly (readonly [string, Command])[] = [
  [
    'prices list',
    {
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
        const { listPricesCommand } = await import('./list.ts');
        return listPricesCommand({
          ...world,
          dir,
          model,
          day: readDay(at),
          format: oneOf('format', format, ['table', 'json']),
        });
      },
    },
  ],
  [
    'prices check',
    {
      usage: 'prices check [--configs DIR] [--at DAY] [--against FILE]',
      help: 'Check prices.yaml, and that every model of the catalog has a price. --against: compare the shipped prices\nwith FILE, of models.dev, of LiteLLM or as data/models.json. Exit code 0: all have one, none differs, 1: otherwise',
      async run(args, world) {
        const { configs: dir, at, against } = parse(args, { ...configs, ...AT, against: { type: 'string' } }).values;
        const { checkPricesCommand } = await import('./check.ts');
        return checkPricesCommand({ ...world, dir, day: readDay(at), against });
      },
    },
  ],
  [
    'prices update',
    {
      usage: 'prices update FILE [--configs DIR] [--dry-run]',
      help: 'Put the newer prices of FILE (as data/models.json) before the shipped ones. --dry-run: only show them',
      async run(args, world) {
        const { values, positionals } = parse(args, { ...configs, 'dry-run': { type: 'boolean' } }, 1);
        const file = required(positionals[0], 'prices update needs one FILE');
        const { updatePricesCommand } = await import('./update.ts');
        return updatePricesCommand({
          ...world,
          dir: values.configs,
          file,
          dryRun: values['dry-run'] ?? false,
          day: readDay(),
        });
      },
    },
  ],
];

const AT = { at: { type: 'string' } } as const;

function readDay(text = new Date().toISOString().slice(0, 10)): string {
  if (/^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new UsageError(`--at must be a day such as 2027-01-01, not ${text}`);
}
