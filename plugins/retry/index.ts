import pRetry from 'p-retry';
import { definePlugin, isFinalForModel, leavesTime, type Attempt } from '../../src/core/kernel/index.ts';
import { UpstreamError } from '../../src/plugin/index.ts';
import { isSilence } from './silence.ts';

/** Sends the same bytes again after a transient failure, as often as the target's `retry` allows. */
export default definePlugin({
  name: 'retry',
  level: 'attempt',
  repeats: true,
  idleFor: ({ retry }) => retry.attempts === 0,
  requires: ['outbound'],
  provides: ['retry'],
  explain({ attempt: { target } }) {
    const { attempts, onStatusCodes } = target.retry;
    if (attempts === 0) return undefined;
    const codes = [...onStatusCodes];
    const does = `up to ${attempts} more ${attempts === 1 ? 'try' : 'tries'} after ${codes.join(', ')}`;
    return { does, details: { attempts, onStatusCodes: codes } };
  },
  create({ host }) {
    const { clock, random } = host;
    return function retry({ attempt, exchange }, next) {
      const { attempts } = attempt.target.retry;
      return pRetry(next, {
        retries: attempts,
        // p-retry does not wait. The clock does: tests control it, and a disconnected client ends the wait.
        minTimeout: 0,
        onFailedAttempt: async ({ error, retriesConsumed, retriesLeft }) => {
          const wait =
            retriesLeft > 0 &&
            // A form that passes through as it arrives can be sent once.
            !exchange.request.form?.spent &&
            !exchange.cancellation.reason
              ? waitBefore(attempt, error, retriesConsumed, random)
              : undefined;
          if (wait === undefined || !leavesTime(wait, attempt.deadline - clock.now())) throw error;
          await clock.sleep(wait, attempt.cancellation);
        },
      });
    };
  },
});

/** Milliseconds to wait before the next try; undefined for no further try. */
function waitBefore(
  { target, choice }: Attempt,
  error: Error,
  retriesConsumed: number,
  random: () => number,
): number | undefined {
  const { onStatusCodes, minDelayMs, maxDelayMs } = target.retry;
  if (!(error instanceof UpstreamError) || !onStatusCodes.has(error.status)) return undefined;
  // The upstream's `x-should-retry` is more precise than the status. SDKs obey it, and so does the gateway.
  if (error.shouldRetry === false) return undefined;
  if (isFinalForModel(error)) return undefined;
  // A second full timeout would cost as much as the first, so another target is tried if there is one.
  if (isSilence(error) && choice.fallsThrough(error)) return undefined;
  const requestedMs = error.retryAfterMs;
  // The upstream wants a longer wait than the cap. An earlier try would be refused again, so the next target is tried.
  if (requestedMs !== undefined) return requestedMs <= maxDelayMs ? requestedMs : undefined;
  // Exponential backoff with full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter", 2015).
  return random() * Math.min(maxDelayMs, minDelayMs * 2 ** retriesConsumed);
}
