import {
  configs,
  oneOf,
  parse,
  UsageError,
  type Command,
  type FlagTable,
  type World,
} from '../../../core/commands/terminal/arguments.ts';
import { showsColour } from '../../../core/commands/terminal/output.ts';
import { readMoment } from '../../../core/kernel/units.ts';

const HELP = {
  usage: [
    "explain --request FILE [--configs DIR] [--header 'NAME: VALUE']... [--key ID] [--method METHOD]",
    '        [--path PATH] [--draw N]... [--at MOMENT] [--json] [--color auto|always|never]',
  ].join('\n'),
  help: [
    'Show the targets of a request and the requests that would be sent, without calling any upstream.',
    '--request FILE  the body as JSON, or a whole request: { "method", "path", "headers", "body" }; -: standard input',
    '--key ID        the caller is this key of keys.yaml; default: a key without limits',
    '--draw N        random number (0 <= N < 1) for load balancing; default: 0',
    '--at MOMENT     time of the request, such as 2027-01-01T00:00:00Z; default: now',
    'Exit code 0: explained, 1: errors in the settings, or a plugin did not end, 2: wrong usage',
  ].join('\n'),
};

const EXPLAIN = {
  ...configs,
  request: { type: 'string' },
  header: { type: 'string', multiple: true, default: [] },
  key: { type: 'string' },
  method: { type: 'string' },
  path: { type: 'string' },
  draw: { type: 'string', multiple: true, default: [] },
  at: { type: 'string' },
  json: { type: 'boolean', default: false },
  color: { type: 'string', default: 'auto' },
} as const satisfies FlagTable;

async function explain(args: string[], world: World): Promise<number> {
  const { configs: dir, request, header, draw, at, color, ...flags } = parse(args, EXPLAIN).values;
  const when = oneOf('color', color, ['auto', 'always', 'never']);
  const colour = when === 'always' || (when === 'auto' && showsColour(world));
  if (request === undefined) throw new UsageError('explain needs --request FILE');
  const draws = draw.map(readDraw);
  const moment = at === undefined ? undefined : readAt(at);
  const { explainCommand } = await import('./explain.ts');
  return explainCommand({ ...world, ...flags, configs: dir, request, headers: header, draws, at: moment, colour });
}

function readDraw(text: string): number {
  if (/^(0?\.\d+|0)$/.test(text)) return Number(text);
  throw new UsageError(`--draw must be a number from 0 to less than 1, not ${text}`);
}

function readAt(text: string): number {
  const moment = readMoment(text);
  if (moment !== undefined) return moment;
  throw new UsageError(`--at must be a moment such as 2027-01-01T00:00:00Z, not ${text}`);
}

const DIFF_HELP = {
  usage: 'diff OLD NEW [--requests FILE] [--format text|markdown|json]',
  help: [
    'Show which requests go elsewhere with the settings in NEW, and which fields of their bodies differ.',
    'Calls no upstream.',
    '--requests FILE  a record of a request, or a question of explain, in each line; -: standard input; default: a chat',
    '                 for each config, key, and alias or model that the settings name',
    '--format         text: for a terminal (default); markdown: for a comment on a pull request; json',
    'Exit code 0: no request moves, 1: some move, or it is unknown, 2: wrong usage, or settings that do not load',
  ].join('\n'),
};

const DIFF = { requests: { type: 'string' }, format: { type: 'string', default: 'text' } } as const satisfies FlagTable;

async function diff(args: string[], world: World): Promise<number> {
  const { values, positionals } = parse(args, DIFF, 2);
  const format = oneOf('format', values.format, ['text', 'markdown', 'json']);
  const [before, after] = positionals;
  if (before === undefined || after === undefined)
    throw new UsageError('diff needs two folders of settings: OLD and NEW');
  const { diffCommand } = await import('./diff.ts');
  return diffCommand({ ...world, before, after, requests: values.requests, format });
}

export const explainCommands: readonly (readonly [string, Command])[] = [
  ['explain', { ...HELP, run: explain }],
  ['diff', { ...DIFF_HELP, run: diff }],
];
