import type { RemoteMedia } from '../../../schemas/types.generated.ts';
import { parseBytes, parseDuration, type Report } from '../../plugin/index.ts';
import { isLocalHost, offLimits } from './local-host.ts';
import type { ReportPlace } from './report-place.ts';

const MAX_PORT = 65_535;

/** @param totalMs the total timeout of the target, where it is known */
export function checkRemoteMedia(
  media: RemoteMedia | undefined,
  totalMs: number | undefined,
  { path, report }: ReportPlace,
): void {
  if (!media) return;
  const { hosts, max_bytes: bytes, timeout, allow_insecure: insecure = false } = media;
  checkHosts(hosts, insecure, { path: [...path, 'hosts'], report });
  if (bytes !== undefined && parseBytes(bytes) === 0)
    report({ path: [...path, 'max_bytes'], message: '`max_bytes: 0` refuses all media; write `hosts: []` instead' });
  if (timeout === undefined) return;
  const time = parseDuration(timeout);
  if (time === 0)
    report({ path: [...path, 'timeout'], message: '`timeout: 0` refuses all media; write `hosts: []` instead' });
  if (totalMs === undefined || time <= totalMs) return;
  const message = `\`timeout\` (${time} ms) has no effect: \`total\` (${totalMs} ms) ends the request first`;
  report({ path: [...path, 'timeout'], severity: 'warning', message });
}

/** Checks hosts that callers may make the gateway call: for media, or as an upstream of their own. */
export function checkHosts(hosts: readonly string[], insecure: boolean, { path, report }: ReportPlace): void {
  for (const [index, host] of hosts.entries())
    checkHost(host, insecure, (problem) => report({ ...problem, path: [...path, index] }));
}

function checkHost(host: string, insecure: boolean, report: Report): void {
  const [name = '', port] = host.split(':');
  if (port !== undefined && port !== '*' && (Number(port) < 1 || Number(port) > MAX_PORT))
    report({ path: [], message: `${port} is not a port: ports range from 1 to ${MAX_PORT}` });
  const doubt = doubtAbout(name, insecure);
  if (doubt !== undefined) report({ path: [], severity: 'warning', message: doubt });
}

function doubtAbout(name: string, insecure: boolean): string | undefined {
  const refused = offLimits(name);
  if (refused !== undefined) return `${name} is ${refused}`;
  if (name === '*' && insecure)
    return 'with `allow_insecure`, callers can make the gateway call every host of your network: name the hosts';
  if (!insecure && isLocalHost(name))
    return `${name} is a loopback or private address, which is refused without \`allow_insecure: true\``;
  return undefined;
}
