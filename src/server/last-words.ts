import { writeSync } from 'node:fs';
import { scrub } from '../telemetry/scrub.ts';

/** Causes of causes are told so far. */
const MAX_CAUSES = 3;

/**
 * Node prints an error that nobody handles with all that hangs on it: requests, headers, credentials. This tells what is needed to
 * find the fault, as a line of the log, and ends the process as Node would.
 */
export function tellLastWords(): void {
  process.on('uncaughtException', (error: unknown) => {
    try {
      writeSync(process.stderr.fd, lastWords(error, new Date()));
    } finally {
      process.exit(1);
    }
  });
}

export function lastWords(error: unknown, at: Date): string {
  const line = { level: 'fatal', time: at.toISOString(), pid: process.pid, err: told(error, 0), msg: MESSAGE };
  return `${scrub(JSON.stringify(line))}\n`;
}

const MESSAGE = 'an error that nobody handled; the process ends';

/** What an error says itself; of anything else that was thrown only what it is. */
function told(error: unknown, depth: number): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const isDeeper = cause !== undefined && depth < MAX_CAUSES;
  return { type: name, code, message, stack, ...(isDeeper && { cause: told(cause, depth + 1) }) };
}
