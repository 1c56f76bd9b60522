import type { RestartOnly } from '../../../core/process/restart-only.ts';

/** Keys of `telemetry` of server.yaml that the SDK gets when it starts. */
export const TRACES_AT_START: readonly RestartOnly[] = [
  // The key's presence, even if empty, enables traces.
  { path: ['telemetry', 'traces'], read: (_, { telemetry }) => (telemetry?.traces ? 'on' : 'off') },
  { path: ['telemetry', 'traces', 'endpoint'], read: (_, { telemetry }) => telemetry?.traces?.endpoint, hidden: true },
  {
    path: ['telemetry', 'traces', 'protocol'],
    read: (_, { telemetry }) => telemetry?.traces?.protocol ?? 'http/protobuf',
  },
  {
    path: ['telemetry', 'traces', 'service_name'],
    read: (_, { telemetry }) => telemetry?.traces?.service_name ?? 'gatehouse',
  },
  { path: ['telemetry', 'semconv'], read: (_, { telemetry }) => telemetry?.semconv ?? 'latest' },
];
