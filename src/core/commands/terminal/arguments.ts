import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearest } from '../../kernel/nearest.ts';
import type { Output, Terminal } from './output.ts';
import { messageOf } from '../../kernel/outside/thrown.ts';

/** An invalid call. Reported with the usage and exit code 2. */
export class UsageError extends Error {}

export interface Command {
  /** The call with its options; one line per form of the call. */
  readonly usage: string;
  readonly help: string;
  /** Needs no add-ons: it neither reads settings nor serves. */
  readonly alone?: true;
  run(args: string[], world: World): number | Promise<number>;
}

/** The parts of the process that commands use. */
export interface World extends Output {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Undefined: the output goes to a file or another program. */
  readonly terminal: Terminal | undefined;
  /** Reads all of standard input. */
  readonly input: () => Promise<Buffer>;
}

export type FlagTable = NonNullable<ParseArgsConfig['options']>;

export const configs = { configs: { type: 'string', default: 'configs' } } as const satisfies FlagTable;

export function parse<const O extends FlagTable>(args: string[], options: O, most = 0) {
  try {
    const parsed = parseArgs({ args, options, strict: true, allowPositionals: most > 0 });
    const extra = parsed.positionals[most];
    if (extra !== undefined) throw new Error(`Unexpected argument '${extra}'`);
    return parsed;
  } catch (error) {
    const message = messageOf(error);
    const unknown = /^Unknown option '--([^']+)'/.exec(message);
    if (!unknown) throw new UsageError(message);
    const suggestion = nearest(unknown[1]!, Object.keys(options));
    throw new UsageError(
      `there is no option --${unknown[1]}${suggestion === undefined ? '' : `; did you mean --${suggestion}?`}`,
    );
  }
}

export function oneOf<const T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined)
    throw new UsageError(`--${option} must be ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}, not ${value}`);
  return found;
}

/** An argument or option that a call needs. Throws UsageError. @param message what the call lacks without it */
export function required(argument: string | undefined, message: string): string {
  if (argument === undefined) throw new UsageError(message);
  return argument;
}
