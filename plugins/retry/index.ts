import pRetry from 'p-retry';
import {
  definePlugin,
  isFinalForModel,
  isSilence,
  leavesTime,
  UpstreamError,
  type Attempt,
} from '../../src/plugin/index.ts';

/** Sends the same bytes again after a failure that may pass, as often as the target's `retry` says. */
export default definePlugin({
  name: 'retry',
  level: 'attempt',
  options: { type: 'object', additionalProperties: false, properties: {} },
  repeats: true,
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
      if (attempts === 0) return next();
      return pRetry(next, {
        retries: attempts,
        // p-retry itself does not wait: the wait is the clock's, so that tests own it and a client that leaves ends it.
        minTimeout: 0,
        onFailedAttempt: async ({ error, retriesConsumed, retriesLeft }) => {
          const wait =
            retriesLeft > 0 && !exchange.cancellation.reason
              ? waitBefore(attempt, error, retriesConsumed, random)
              : undefined;
          if (wait === undefined || !leavesTime(wait, attempt.deadline - clock.now())) throw error;
          await clock.sleep(wait, attempt.cancellation);
        },
      });
    };
  },
});

/** Milliseconds to wait before the next try; undefined when there should be none. */
function waitBefore(
  { target, choice }: Attempt,
  error: Error,
  retriesConsumed: number,
  random: () => number,
): number | undefined {
  const { onStatusCodes, minDelayMs, maxDelayMs } = target.retry;
  if (!(error instanceof UpstreamError) || !onStatusCodes.has(error.status)) return undefined;
  // Anthropic and OpenAI know better than a status whether another try can help: SDKs heed them, and so does this.
  if (error.shouldRetry === false) return undefined;
  if (isFinalForModel(error)) return undefined;
  // Waiting in vain a second time costs as much as the first: whoever else there is has its turn.
  if (isSilence(error) && choice.fallsThrough(error)) return undefined;
  const asked = error.retryAfterMs;
  // Asked for more than the cap: trying earlier would only be refused again, so the next target has its turn.
  if (asked !== undefined) return asked <= maxDelayMs ? asked : undefined;
  // Exponential backoff with full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter", 2015).
  return random() * Math.min(maxDelayMs, minDelayMs * 2 ** retriesConsumed);
}
