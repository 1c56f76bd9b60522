import { errorFields } from '../record/error-fields.ts';
import { scrub } from '../record/scrub.ts';

export interface CrashLog {
  readonly at: Date;
  /** The plugin from outside that the error comes from. */
  readonly plugin?: string | undefined;
}

/**
 * Node prints an unhandled error with all objects that it refers to: requests, headers, credentials. This is a log line with only
 * what finds the fault.
 */
export function crashLog(error: unknown, { at, plugin }: CrashLog): string {
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
