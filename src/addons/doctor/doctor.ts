import { outboundOf } from '../../core/process/outbound.ts';
import { compileServerSettings } from '../../core/settings/compile/server-settings.ts';
import { describe } from '../../core/settings/source/diagnostic.ts';
import { loadSettings, type LoadResult } from '../../core/settings/read/load.ts';
import type { Environment } from '../../core/settings/values/references.ts';
import type { Lookup } from '../../core/upstream/index.ts';
import type { Output } from '../../core/commands/terminal/output.ts';
import { addOnParts, partOf } from '../../core/process/add-on-parts.ts';
import { systemClock } from '../../core/kernel/system-clock.ts';
import { error, ok, skipped, warning, type Finding } from '../../core/process/finding.ts';
import {
  checkCertificates,
  checkFiles,
  checkMemory,
  checkProxy,
  checkStateFolder,
  checkVersions,
  readSystem,
  type ReadSystem,
} from './machine.ts';
import { checkPorts } from './ports.ts';

export interface DoctorOptions extends Output {
  readonly dir: string;
  readonly env: Environment;
  readonly json: boolean;
  /** Connects to nothing but this machine. */
  readonly offline: boolean;
  /** Sends each provider one small call, for which nothing is billed. */
  readonly probes?: boolean;
  readonly timeoutMs: number;
  readonly read?: ReadSystem;
  readonly lookup?: Lookup;
}

const MAX_DIAGNOSTICS = 20;

/** `gatehouse doctor`. Exit code 0: nothing is wrong, perhaps with warnings; 1: something is. */
export async function doctorCommand(options: DoctorOptions): Promise<0 | 1> {
  const { dir, env, json, out } = options;
  const loaded = await (partOf('load')?.(dir, env) ?? loadSettings(dir, { env }));
  const found = [...checkVersions(), ...settingsFindings(loaded, dir), ...(await checkRest(loaded, options))];
  const hide = hideSecrets(loaded.secrets());
  const findings = found.map(({ message, ...rest }) => ({ ...rest, message: hide(message) }));
  const failed = findings.filter(({ status }) => status === 'error').length;
  if (json) out(`${JSON.stringify({ ok: failed === 0, findings }, null, 2)}\n`);
  else {
    for (const { status, check, message } of findings) out(`${status.padEnd(8)}${check}: ${message}\n`);
    out(failed === 0 ? 'nothing is wrong\n' : `${failed} ${failed === 1 ? 'check' : 'checks'} failed\n`);
  }
  return failed === 0 ? 0 : 1;
}

function settingsFindings(loaded: LoadResult, dir: string): readonly Finding[] {
  const { diagnostics } = loaded;
  const problems = diagnostics
    .slice(0, MAX_DIAGNOSTICS)
    .map((one) => (one.severity === 'error' ? error : warning)('settings', describe(one)));
  const rest = diagnostics.length - problems.length;
  if (rest > 0) problems.push(warning('settings', `${rest} more: gatehouse validate`));
  return loaded.ok ? [...problems, ok('settings', `${dir} can be used`)] : problems;
}

async function checkRest(loaded: LoadResult, options: DoctorOptions): Promise<readonly Finding[]> {
  const { settings } = loaded;
  const { dir, env, offline, probes = false, timeoutMs, read = readSystem, lookup } = options;
  if (!settings || !loaded.ok) return [skipped('everything else', 'it depends on the settings, which have errors')];
  const server = compileServerSettings(settings.server);
  const { checkUpstreams } = await import('./upstreams.ts');
  const outbound = outboundOf(settings);
  const examined = (offline ? [] : addOnParts).flatMap(
    ({ examine }) => examine?.(settings.server, { clock: systemClock, timeoutMs }) ?? [],
  );
  const [ports, engines, upstreams] = await Promise.all([
    checkPorts(server, timeoutMs),
    Promise.all(examined),
    offline
      ? [skipped('credentials and addresses', '--offline')]
      : checkUpstreams({ settings, outbound, env, timeoutMs, probes, lookup }),
  ]);
  return [
    ...checkCertificates(settings.tls, Date.now()),
    checkStateFolder(settings.server),
    checkFiles(server, read),
    checkMemory(server, read),
    ...((settings.server.plugins ?? []).length > 0
      ? await (await import('./plugins.ts')).checkPlugins(loaded, dir)
      : []),
    ...checkProxy(env, settings.server.egress?.proxy !== undefined),
    ...ports,
    ...engines.flat(),
    ...upstreams,
  ];
}

/** Errors of servers may quote what they were sent. */
function hideSecrets(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length >= 4).toSorted((a, b) => b.length - a.length);
  return (text) => long.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text);
}
