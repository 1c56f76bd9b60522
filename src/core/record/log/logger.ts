import { pino, type DestinationStream, type Logger } from 'pino';
import { currentWork } from '../../kernel/outside/plugin-work.ts';
import { systemClock } from '../../kernel/system-clock.ts';
import type { Clock } from '../../../plugin/index.ts';
import { loggedError } from '../error-fields.ts';
import { scrub } from '../scrub.ts';

interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly destination?: DestinationStream;
  readonly clock?: Clock;
  /** Number of the worker process, when several processes write to the same output. */
  readonly worker?: number | undefined;
}

/** No code logs headers or bodies; scrubbing is a safeguard against an object that contains some. */
export function createLogger({ level, destination = NOWHERE, worker, clock = systemClock }: LoggerOptions): Logger {
  const options = {
    level,
    base: worker === undefined ? null : { worker },
    timestamp: () => `,"time":"${new Date(clock.wall()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: scrub },
    serializers: { err: loggedError },
    mixin: requestOfPlugin,
  };
  return pino(options, destination);
}

/** The request of a line that an external plugin writes. Its author has the logger of `create`, and no request there. */
function requestOfPlugin(): object {
  const exchange = currentWork()?.exchange;
  return exchange ? { request_id: exchange.id } : {};
}

/** pino's default destination opens standard output and adds an exit hook for each logger. */
const NOWHERE: DestinationStream = { write() {} };
