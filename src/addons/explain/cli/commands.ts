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

/** `gatehouse explain`. */
export const explainCommands: readonly (readonly [string, Command])[] = [['explain', { ...HELP, run: explain }]];
