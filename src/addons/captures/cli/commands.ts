import { readFile } from 'node:fs/promises';
import {
  parse,
  required,
  UsageError,
  type Command,
  type FlagTable,
  type World,
} from '../../../core/commands/terminal/arguments.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import { CAPTURE_LIMITS } from '../../../core/process/captures-port.ts';

const RECORD = {
  out: { type: 'string' },
  where: { type: 'string', multiple: true, default: [] },
  requests: { type: 'string', default: '20' },
  minutes: { type: 'string', default: '10' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
} as const satisfies FlagTable;

const REPLAY = {
  port: { type: 'string', default: '8790' },
  fast: { type: 'boolean', default: false },
} as const satisfies FlagTable;

const LISTENER = 'http://127.0.0.1:8788';

async function record(args: string[], world: World): Promise<number> {
  const { values, positionals } = parse(args, RECORD, 1);
  const [url = world.env['GATEHOUSE_ADMIN_URL'] ?? LISTENER] = positionals;
  if (!/^https?:\/\/[^\s/]+(?:\/\S*)?$/.test(url))
    throw new UsageError(`record needs the address of the listener for operators, such as ${LISTENER}, not ${url}`);
  const file = required(values.out, 'record needs --out FILE');
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  const { recordCommand } = await import('./record.ts');
  return recordCommand({
    ...world,
    file,
    url: url.replace(/\/+$/, ''),
    token: await tokenOf(values, world),
    where: whereOf(values.where),
    requests: numberOf('requests', values.requests, CAPTURE_LIMITS.requests),
    minutes: numberOf('minutes', values.minutes, CAPTURE_LIMITS.minutes),
    stop: stop.signal,
  });
}

async function tokenOf(values: { token?: string; 'token-file'?: string }, { env }: World): Promise<string | undefined> {
  const { token = env['GATEHOUSE_ADMIN_TOKEN'], 'token-file': file } = values;
  if (file === undefined) return token === '' ? undefined : token;
  return (
    await readFile(file, 'utf8').catch((error: unknown) => {
      throw new UsageError(`--token-file ${file} cannot be read: ${messageOf(error)}`);
    })
  ).trim();
}

/** The gateway checks the names. */
function whereOf(texts: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const pairs = texts.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`--where must be NAME=VALUE, such as key=search, not ${text}`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  const byName = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...byName].map(([name, all]) => [name, all.map(([, value]) => value)]));
}

function numberOf(name: string, text: string, most: number): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= most) return Number(text);
  throw new UsageError(`--${name} must be a number from 1 to ${most}, not ${text}`);
}

async function replay(args: string[], { out, err }: World): Promise<number> {
  const { values, positionals } = parse(args, REPLAY, 100);
  if (positionals.length === 0) throw new UsageError('replay needs FILE or DIR');
  if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65535)
    throw new UsageError(`--port must be a TCP port, not ${values.port}`);
  const { startReplay } = await import('./replay.ts');
  const options = { paths: positionals, port: Number(values.port), isFast: values.fast, err };
  const { url, calls, close } = await startReplay(options);
  out(`${calls} recorded calls of upstreams are served at ${url}\n`);
  await new Promise<void>((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve));
  await close();
  return 0;
}

export const captureCommands: readonly (readonly [string, Command])[] = [
  [
    'record',
    {
      usage: 'record [URL] --out FILE [--where NAME=VALUE]... [--requests 20] [--minutes 10] [--token-file FILE]',
      help: [
        'Capture requests of a running gateway, with the bytes of their upstreams and their times, into FILE',
        `URL           of its listener for operators. Default: $GATEHOUSE_ADMIN_URL, or ${LISTENER}`,
        '--where       only such requests: the filters of `gatehouse admin requests list`, such as key=search, status=5xx',
        '--requests N  at most so many, 1 to 100; --minutes N: for at most so long, 1 to 60',
        'The token, of an admin with the right `content`, is $GATEHOUSE_ADMIN_TOKEN or in --token-file',
        'Exit code 0: FILE has requests, 1: it has none, or the gateway refused, 2: wrong usage',
      ].join('\n'),
      run: record,
    },
  ],
  [
    'replay',
    {
      usage: 'replay FILE|DIR... [--port 8790] [--fast]',
      help: [
        'Answer as the upstreams did in files of `gatehouse record`: the same bytes, at the same pace',
        '--fast  without the waits. A call that is in no file gets 404 and is named on standard error',
      ].join('\n'),
      alone: true,
      run: replay,
    },
  ],
];
