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
} as const satisfies Record<PluginFailureKind, string>;

export function pluginFaults(log: Logger, { pluginFailures }: Pick<Families, 'pluginFailures'>): ReportPluginFailure {
  return ({ kind, plugin, requestId, error }) => {
    pluginFailures.add({ plugin, kind });
    log.error({ plugin, ...(requestId !== undefined && { request_id: requestId }), err: error }, MESSAGES[kind]);
  };
}
