import { BUDGET_METRICS } from './budget-metrics.ts';
import { GATEWAY_METRICS } from './gateway-metrics.ts';
import { LIBRARY_METRICS } from './library-metrics.ts';
import type { MetricSpec } from './metric-spec.ts';
import { UPSTREAM_METRICS } from './upstream-metrics.ts';

/**
 * Every metric of the gateway, in one table. Rules (checked by metrics.test.ts): prefix, base units in the name,
 * `_total` on counters only, always the same labels (`''` for an unknown value), no label that a client can write
 * freely. Counters with `byCaller` also have `key_id` and the metadata that `telemetry.metrics.metadata` chooses, of
 * bounded number.
 *
 * Labels `provider` (catalog slug), `request_model` (see catalog/model-labels.ts) and `operation` belong together.
 */
export const METRICS = {
  ...GATEWAY_METRICS,
  ...BUDGET_METRICS,
  ...UPSTREAM_METRICS,
  ...LIBRARY_METRICS,
} satisfies Record<string, MetricSpec>;

export type MetricKey = keyof typeof METRICS;
