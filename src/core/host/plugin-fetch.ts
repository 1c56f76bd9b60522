import { Cancellation, GatewayError, UpstreamError, type Clock } from '../../plugin/index.ts';
import type { FetchOptions, FetchReply, HostServices } from '../../plugin/services.ts';
import { currentWork } from '../kernel/outside/plugin-work.ts';
import type { Upstream } from '../upstream/types.ts';

const TIMEOUT_MS = { standard: 5_000, most: 60_000 };
const BYTES = { standard: 1024 * 1024, most: 16 * 1024 * 1024 };
const CONNECTIONS = { standard: 16, most: 256 };

export interface CallTools {
  readonly plugin: string;
  readonly dry: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly exchange: Upstream['exchange'];
  /** Cancelled when the plugin is closed. */
  readonly closing: Cancellation;
  /** @param outcome the class of the status, `2xx`, or the code of the error */
  readonly called: (plugin: string, outcome: string, ms: number) => void;
}

/** Requests of one plugin to services of the operator's. */
export function pluginFetch(tools: CallTools): HostServices['fetch'] {
  const { plugin, dry, clock, called } = tools;
  return async (url, options = {}) => {
    if (dry)
      throw new GatewayError('plugin_call_failed', 'A plugin that is made to check or explain settings calls nothing.');
    const from = clock.now();
    const ended = (outcome: string): void => called(plugin, outcome, clock.now() - from);
    try {
      const reply = await call(url, options, tools);
      ended(`${Math.floor(reply.status / 100)}xx`);
      return reply;
    } catch (error) {
      const failure = failureOf(error, plugin);
      ended(failure.cause instanceof UpstreamError ? failure.cause.code : failure.code);
      throw failure;
    }
  };
}

async function call(url: string, options: FetchOptions, { exchange, closing }: CallTools): Promise<FetchReply> {
  const { headers = {}, body, method = body === undefined ? 'GET' : 'POST', allowInsecure = false } = options;
  const stop = new Cancellation();
  const released = [options.cancellation ?? currentWork()?.exchange?.cancellation, closing].map((outer) =>
    outer?.onCancel((reason) => stop.cancel(reason)),
  );
  try {
    const {
      status,
      headers: received,
      bytes = Buffer.alloc(0),
    } = await exchange({
      url,
      method,
      headers,
      ...(typeof body === 'string' ? { body } : body && { bodyBytes: body }),
      maxBytes: bounded(options.maxBytes, BYTES),
      connections: bounded(options.connections, CONNECTIONS),
      timeoutMs: bounded(options.timeout, TIMEOUT_MS),
      allowInsecure,
      cancellation: stop,
    });
    const text = (): string => bytes.toString();
    return { status, headers: received, body: bytes, text, json: (): unknown => JSON.parse(text()) };
  } finally {
    for (const release of released) release?.();
  }
}

/** Throws for a number beyond the bound: a smaller one in its place would go unnoticed. */
function bounded(wanted: number | undefined, { standard, most }: { readonly standard: number; readonly most: number }) {
  const number = wanted ?? standard;
  if (number > 0 && number <= most) return number;
  throw new RangeError(`host.fetch: ${number} is not between 1 and ${most}`);
}

/** A failed call is no failure of the request's target: no other target is tried, and no breaker counts it. */
function failureOf(error: unknown, plugin: string): GatewayError {
  if (error instanceof UpstreamError)
    // The log has the cause. Its message names a host of the operator's, which is not for the client.
    return new GatewayError('plugin_call_failed', `A service that a plugin asks failed (${error.code}).`, {
      cause: error,
      plugin,
    });
  if (error instanceof GatewayError) return error;
  throw error;
}
