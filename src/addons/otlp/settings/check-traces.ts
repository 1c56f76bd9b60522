import type { ServerFile } from '../../../../schemas/types.generated.ts';
import { within, type Check } from '../../../core/settings/checks/check.ts';
import type { Report } from '../../../core/kernel/report.ts';

/** Checks `telemetry.traces` of server.yaml. */
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
