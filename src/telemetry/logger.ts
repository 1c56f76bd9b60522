import { pino, type DestinationStream, type Logger } from 'pino';
import { systemClock, type Clock } from '../plugin/index.ts';
import { scrub } from './scrub.ts';

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Default stdout. */
  readonly destination?: DestinationStream;
  readonly clock?: Clock;
}

/** JSON lines. Headers and bodies are not logged anywhere; scrubbing is for the day somebody logs an object that holds some. */
export function createLogger({ level, destination, clock = systemClock }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date(clock.wall()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: scrub },
  };
  return destination ? pino(options, destination) : pino(options);
}
