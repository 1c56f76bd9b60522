import { ReplyFault } from '../../formats/faults.ts';
import { RestedTextChanged, SignedTextChanged } from '../../formats/texts/channel-text.ts';
import { GatewayError, UpstreamError } from '../../plugin/index.ts';
import { isError } from '../kernel/outside/thrown.ts';

/** A reply ends with it, because its plugin held more of it back than it may. */
export const heldTooMuch = (plugin: string, why: string): GatewayError =>
  new GatewayError('reply_withheld', `A plugin held this reply back ${why}.`, { plugin });

/** The error with which a reply ends. A GatewayError that a plugin throws is its refusal. */
export function replyError(thrown: unknown, plugin: string): GatewayError {
  if (isError(thrown) && thrown instanceof GatewayError) return thrown;
  if (thrown instanceof SignedTextChanged)
    return new GatewayError('reply_withheld', 'A plugin would have changed thinking that its provider has signed.', {
      plugin,
      cause: thrown,
    });
  if (thrown instanceof RestedTextChanged)
    return heldTooMuch(plugin, 'because a match spans an interruption of its text');
  if (thrown instanceof ReplyFault)
    return new UpstreamError('upstream_error', `The upstream's reply cannot be read: ${thrown.message}.`, {
      cause: thrown,
    });
  return new GatewayError('internal_error', 'A plugin failed while it read this reply.', { cause: thrown, plugin });
}

/** The same error with another message: no other of its texts, which may quote the first. */
export function withMessage(error: GatewayError, message: string): GatewayError {
  const { upstreamReport: _, upstreamDetails: __, ...details } = error;
  const Kind = error instanceof UpstreamError ? UpstreamError : GatewayError;
  return new Kind(error.code, message, {
    ...details,
    retryAfterMs: error.retryAfterMs!,
    limitHeaders: error.limitHeaders!,
    shouldRetry: error.shouldRetry!,
    provider: error.provider!,
    upstreamKind: error.upstreamKind!,
    upstreamCode: error.upstreamCode!,
    limit: error.limit!,
    cause: error,
  });
}
