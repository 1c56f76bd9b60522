import { pino, type DestinationStream, type Logger } from 'pino';
import { systemClock, type Clock } from '../../plugin/index.ts';
import { loggedError } from '../error-fields.ts';
import { scrub } from '../scrub.ts';

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Default: nowhere. */
  readonly destination?: DestinationStream;
  readonly clock?: Clock;
  /** Of several processes that write to the same place: which one a line is of. */
  readonly worker?: number | undefined;
}

/** JSON lines. Headers and bodies are not logged anywhere; scrubbing is for the day somebody logs an object that holds some. */
export function createLogger({ level, destination = NOWHERE, worker, clock = systemClock }: LoggerOptions): Logger {
  const options = {
    level,
    base: worker === undefined ? null : { worker },
    timestamp: () => `,"time":"${new Date(clock.wall()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: scrub },
    serializers: { err: loggedError },
  };
  return pino(options, destination);
}

/** pino's own default opens standard output, with an exit hook of its own for each logger. */
const NOWHERE: DestinationStream = { write() {} };
