import type { Logger } from 'pino';
import type { PluginFailureKind, PluginFailure } from '../chain/instance.ts';
import type { Families } from '../../record/metrics/metrics.ts';

export type ReportPluginFailure = (failure: PluginFailure) => void;

/** For plugins that run to check or explain settings, not to serve. */
export const ignorePluginFaults: ReportPluginFailure = () => {};

const MESSAGES = {
  timeout: 'a plugin was given up: it took too long',
  error: 'a plugin failed',
  stream: "a plugin's stream wrapper failed",
  listener: 'a listener of a plugin failed',
  rejection: 'a plugin left a rejection unhandled',
  blocked: 'a plugin held the event loop: all requests waited',
} as const satisfies Record<PluginFailureKind, string>;

export function pluginFaults(log: Logger, { pluginFailures }: Pick<Families, 'pluginFailures'>): ReportPluginFailure {
  return ({ kind, plugin, requestId, error, ms }) => {
    pluginFailures.add({ plugin, kind });
    const of = { plugin, ...(requestId !== undefined && { request_id: requestId }) };
    if (ms === undefined) log.error({ ...of, err: error }, MESSAGES[kind]);
    else log.warn({ ...of, blocked_ms: Math.round(ms) }, MESSAGES[kind]);
  };
}
