import { errorFields } from '../telemetry/error-fields.ts';
import { scrub } from '../telemetry/scrub.ts';

export interface LastWords {
  readonly at: Date;
  /** The plugin from outside that the error comes from. */
  readonly plugin?: string | undefined;
}

/**
 * Node prints an error that nobody handles with all that hangs on it: requests, headers, credentials. This tells what is needed to
 * find the fault, as a line of the log.
 */
export function lastWords(error: unknown, { at, plugin }: LastWords): string {
  const line = {
    level: 'fatal',
    time: at.toISOString(),
    pid: process.pid,
    plugin,
    err: errorFields(error),
    msg: MESSAGE,
  };
  return `${scrub(JSON.stringify(line))}\n`;
}

const MESSAGE = 'an error that no code handled; the process ends';
