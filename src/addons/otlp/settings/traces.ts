import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { RestartOnly } from '../../../core/process/restart-only.ts';
import { within, type Check } from '../../../core/settings/checks/check.ts';
import type { Report } from '../../../core/kernel/report.ts';

export const checkTracesSettings: Check = () => ({
  server: (file, report) => checkTraces(file, within(report, 'telemetry', 'traces')),
});

/** The exporter sends to exactly this address. OTLP over HTTP has a path, `/v1/traces` by default (OTLP specification, OTLP/HTTP Request). */
function checkTraces({ telemetry }: ServerFile, report: Report): void {
  const { endpoint, protocol = 'http/protobuf' } = telemetry?.traces ?? {};
  if (endpoint === undefined || !URL.canParse(endpoint)) return;
  const { origin, pathname } = new URL(endpoint);
  if (protocol === 'grpc' && pathname !== '/')
    report({
      path: ['endpoint'],
      severity: 'warning',
      message: `with \`protocol: grpc\` the address has no path: write ${origin}`,
    });
  if (protocol !== 'grpc' && pathname === '/')
    report({
      path: ['endpoint'],
      severity: 'warning',
      message: `the address has no path, and collectors take traces at one: write ${origin}/v1/traces`,
    });
}

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
