import { blame } from '../plugin/blame.ts';
import { GatewayError, type Attempt, type Exchange } from '../plugin/index.ts';
import { ChainFault } from './instance.ts';

/** The object on which a chain sets its reply. */
type Holder = Exchange | Attempt;

interface Stop {
  readonly plugin: string;
  /** Counts and logs the fault. */
  readonly report: (error: Error) => void;
}

const stops = new WeakMap<Holder, Stop>();

/**
 * Notes that an external plugin returned without a reply and without calling `next()`. A plugin around it may still
 * reply.
 */
export const noteStop = (holder: Holder, stop: Stop): void => void stops.set(holder, stop);

/** The error of a chain that has ended without a reply. */
export function noReply(holder: Holder): Error {
  const stop = stops.get(holder);
  if (!stop)
    return new GatewayError(
      'internal_error',
      'target' in holder
        ? 'The attempt chain ended without a reply; is `send` in it?'
        : 'The chain ended without a reply; is `route` in the request chain?',
    );
  const { plugin, report } = stop;
  const error = blame(new ChainFault(`plugin "${plugin}" returned without a reply and without calling next()`), plugin);
  report(error);
  return error;
}
