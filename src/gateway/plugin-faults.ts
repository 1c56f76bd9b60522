import type { Logger } from 'pino';
import type { PluginFailureKind, PluginFailure } from '../chain/instance.ts';
import type { Families } from '../record/metrics/open-families.ts';

/** Hears of everything that goes wrong in plugins from outside. */
export type ReportPluginFailure = (failure: PluginFailure) => void;

/** Where plugins run to check or explain settings, not to serve. */
export const ignorePluginFaults: ReportPluginFailure = () => {};

const MESSAGES = {
  timeout: 'a plugin was given up: it took too long',
  error: 'a plugin failed',
  stream: "a plugin's stream wrapper failed",
  listener: 'a listener of a plugin failed',
  rejection: 'a plugin left a rejection unhandled',
} as const satisfies Record<PluginFailureKind, string>;

/** Counts faults of plugins from outside and logs them under the plugin's name. */
export function pluginFaults(log: Logger, { pluginFailures }: Pick<Families, 'pluginFailures'>): ReportPluginFailure {
  return ({ kind, plugin, requestId, error }) => {
    pluginFailures.add({ plugin, kind });
    log.error({ plugin, ...(requestId !== undefined && { request_id: requestId }), err: error }, MESSAGES[kind]);
  };
}
