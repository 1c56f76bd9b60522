import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { isLoopback } from '../compile/networks.ts';
import { metadataLabel } from '../compile/metadata-labels.ts';
import { compileServerSettings, type ServerSettings } from '../compile/server-settings.ts';
import { valueAt } from '../schema/pointer.ts';
import { within, type Check } from './check.ts';
import { checkConfigId } from './names.ts';

const ANY_ADDRESS = ['0.0.0.0', '::'];

/** Checks server.yaml by its compiled settings: a default can contradict what is written. */
export const checkServer: Check = (known) => ({
  server(file, report) {
    if (file.default_config !== undefined) checkConfigId(file.default_config, known, within(report, 'default_config'));
    const settings = compileServerSettings(file);
    checkPorts(file, settings, report);
    checkAdmin(settings, report);
    checkLimits(file, settings, within(report, 'limits'));
    checkCache(file, settings, within(report, 'cache'));
    checkRecords(settings, within(report, 'telemetry', 'records'));
    checkPrefixes(settings, within(report, 'header_prefixes'));
    checkMetadataLabels(settings, within(report, 'telemetry', 'metrics', 'metadata'));
  },
});

const LISTENERS = ['listen', 'status', 'admin'] as const;

function checkPorts(file: ServerFile, settings: ServerSettings, report: Report): void {
  const open = LISTENERS.filter((name) => name !== 'admin' || settings.admin.enabled);
  for (const [index, name] of open.entries()) {
    const twin = open.slice(0, index).find((other) => isSamePlace(settings[name], settings[other]));
    if (twin === undefined) continue;
    const at = valueAt(file, [twin, 'port']) === undefined ? name : twin;
    report({ path: [at, 'port'], message: `\`${name}\` and \`${twin}\` both use port ${settings[name].port}` });
  }
}

type ListenAddress = ServerSettings['listen'];

function isSamePlace(one: ListenAddress, other: ListenAddress): boolean {
  const sameHost = one.host === other.host || [one.host, other.host].some((host) => ANY_ADDRESS.includes(host));
  return one.port !== 0 && one.port === other.port && sameHost;
}

/** Refuses an admin listener open to the network without a token: its records contain the requests of callers. */
function checkAdmin({ admin: { enabled, host, token } }: ServerSettings, report: Report): void {
  if (!enabled || token || isLoopback(host)) return;
  const message = `\`admin\` on ${host} would answer every client that can reach it: set a \`token\`, or the host 127.0.0.1`;
  report({ path: ['admin', 'host'], message });
}

/** `cost-center` and `cost_center` would be one label. */
function checkMetadataLabels({ telemetry }: ServerSettings, report: Report): void {
  const labels = telemetry.metrics.metadata.map(metadataLabel);
  for (const [index, label] of labels.entries()) {
    const twin = labels.indexOf(label);
    if (twin === index) continue;
    const other = telemetry.metrics.metadata[twin];
    report({ path: [index], message: `this is the label \`${label}\`, as \`${other}\` is` });
  }
}

const REFUSED_BY_ZERO: Readonly<Record<string, string>> = {
  reply: 'every plain reply that must be translated',
  plugin_time: 'every request that passes an external plugin',
};

/** Refuses limits of 0: in other gateways 0 means "no limit", here it would refuse requests. */
function checkLimits(file: ServerFile, { limits }: ServerSettings, report: Report): void {
  for (const [key, value] of [
    ['body', limits.body],
    ['header', limits.header],
    ['reply', limits.reply],
    ['header_time', limits.headerMs],
    ['body_time', limits.bodyMs],
    ['plugin_time', limits.pluginMs],
  ] as const) {
    if (value > 0) continue;
    const refused = REFUSED_BY_ZERO[key] ?? 'every request';
    report({ path: [key], message: `\`${key}: 0\` would refuse ${refused}; leave it out for the default` });
  }
  const key = file.limits?.in_flight_bytes === undefined ? 'body' : 'in_flight_bytes';
  if (limits.inFlightBytes >= limits.body) return checkBodyShare(limits, within(report, key));
  const message = `\`in_flight_bytes\` (${limits.inFlightBytes} bytes) is less than \`body\`, the limit for one body (${limits.body} bytes): a body of that size would always be refused`;
  report({ path: [key], message });
}

/** Admission lets any caller in up to three quarters of the bytes: one body must not take the rest too. */
function checkBodyShare({ body, inFlightBytes }: ServerSettings['limits'], report: Report): void {
  if (body <= inFlightBytes * 0.75) return;
  const message = `one body at the limit \`body\` (${body} bytes) takes more than three quarters of \`in_flight_bytes\` (${inFlightBytes} bytes) and leaves no room for other keys`;
  report({ path: [], severity: 'warning', message });
}

function checkCache(
  { cache }: ServerFile,
  { cache: { maxBytes, maxEntryBytes } }: ServerSettings,
  report: Report,
): void {
  const warn = (key: string, message: string): void => report({ path: [key], severity: 'warning', message });
  if (maxBytes === 0) warn('max_bytes', 'no reply is ever cached, also where a gateway config sets `cache`');
  else if (maxEntryBytes > maxBytes && cache)
    warn(
      cache.max_entry_bytes === undefined ? 'max_bytes' : 'max_entry_bytes',
      `\`max_entry_bytes\`, the limit for one reply (${maxEntryBytes} bytes), is more than \`max_bytes\`, the limit for all (${maxBytes} bytes)`,
    );
}

function checkRecords({ telemetry: { records } }: ServerSettings, report: Report): void {
  if (!records || records.maxFileBytes <= records.maxBytes) return;
  const message = `\`max_file_bytes\`, the size of one file (${records.maxFileBytes} bytes), is more than \`max_bytes\`, the size of all (${records.maxBytes} bytes)`;
  report({ path: ['max_bytes'], message });
}

function checkPrefixes({ headerPrefixes: prefixes }: ServerSettings, report: Report): void {
  for (const [index, prefix] of prefixes.entries()) {
    const path = [index];
    if (prefixes.indexOf(prefix) < index)
      report({ path, severity: 'warning', message: `the prefix ${prefix} is already listed` });
    const message = 'many headers begin with x-, and the gateway would treat all of them as its own';
    if (prefix === 'x-') report({ path, message });
  }
}
