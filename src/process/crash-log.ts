import { errorFields } from '../record/error-fields.ts';
import { scrub } from '../record/scrub.ts';

export interface CrashLog {
  readonly at: Date;
  /** The external plugin that caused the error. */
  readonly plugin?: string | undefined;
}

/**
 * The log line of an unhandled error. Node would print the error with all objects it refers to: requests, headers,
 * credentials. This line has only what identifies the fault.
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

const MESSAGE = 'unhandled error; the process ends';
