import type { ServerSettings } from '../../core/settings/compile/server-settings.ts';
import { error, ok, skipped, warning, type Finding } from '../../core/process/finding.ts';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ServerFile } from '../../../schemas/types.generated.ts';
import { storeSettings } from '../../core/settings/source/stored-objects.ts';
import { EXPIRES_SOON_MS, type TlsFiles } from '../../core/settings/read/tls-files.ts';
import { version } from '../../core/kernel/version.ts';

/** Reads a file of the system; undefined where it does not exist. Injected by tests. */
export type ReadSystem = (path: string) => string | undefined;

export const readSystem: ReadSystem = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

const NODE_MAJOR = 24;
const MIB = 1024 * 1024;
/** Of an idle gateway with its code: 120 MB (measured), and room for replies. */
const OWN_BYTES = 256 * MIB;

export function checkVersions(): readonly Finding[] {
  const { version: own } = version();
  const major = Number(process.versions.node.split('.', 1)[0]);
  const node = `Node ${process.versions.node}`;
  return [
    ok('version', `Gatehouse ${own}`),
    major >= NODE_MAJOR ? ok('node', node) : error('node', `${node}: Gatehouse needs Node ${NODE_MAJOR} or later`),
  ];
}

/** A request in flight has a connection of its client and one to its upstream. */
export function checkFiles({ limits }: ServerSettings, read: ReadSystem): Finding {
  const [, soft] = /^Max open files\s+(\S+)/m.exec(read('/proc/self/limits') ?? '') ?? [];
  if (soft === undefined) return skipped('open files', 'this system has no /proc/self/limits');
  if (soft === 'unlimited') return ok('open files', 'unlimited');
  const needed = 2 * limits.inFlight + 256;
  if (Number(soft) >= needed) return ok('open files', `${soft} may be open, ${needed} are enough`);
  return warning(
    'open files',
    `${soft} may be open, and limits.in_flight (${limits.inFlight}) can need ${needed}: raise \`ulimit -n\` (LimitNOFILE of systemd), or lower limits.in_flight`,
  );
}

export function checkMemory({ limits }: ServerSettings, read: ReadSystem): Finding {
  const text = read('/sys/fs/cgroup/memory.max') ?? read('/sys/fs/cgroup/memory/memory.limit_in_bytes');
  const limit = Number(text?.trim());
  // A cgroup of version 1 without a limit has a number near 2^63.
  if (text === undefined || !Number.isFinite(limit) || limit > 2 ** 60) return ok('memory', 'no limit of a cgroup');
  const needed = limits.inFlightBytes + OWN_BYTES;
  const shown = `${Math.round(limit / MIB)} MiB`;
  if (limit >= needed) return ok('memory', `a limit of ${shown}`);
  return warning(
    'memory',
    `a limit of ${shown} is less than limits.in_flight_bytes and the gateway itself (${Math.round(needed / MIB)} MiB): the system may kill it under load`,
  );
}

export function checkStateFolder(file: ServerFile): Finding {
  const state = storeSettings(file);
  const { dir } = state ?? {};
  if (dir === undefined) return skipped('state store', state ? 'in memory' : 'server.yaml has no `state`');
  const place = existsSync(dir) ? dir : dirname(dir);
  try {
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok('state store', `${dir} can be written`);
  } catch {
    return error('state store', `${place} cannot be written by this user`);
  }
}

/** The settings check has refused certificates that are not sound. */
export function checkCertificates({ data, admin }: TlsFiles, now: number): readonly Finding[] {
  const found = Object.entries({ tls: data, 'admin.tls': admin }).flatMap(([name, identity]) => {
    if (!identity) return [];
    const days = Math.floor((identity.expiresAt - now) / (24 * 3600 * 1000));
    const message = `the certificate expires in ${days} days, on ${new Date(identity.expiresAt).toISOString().slice(0, 10)}`;
    return [identity.expiresAt - now < EXPIRES_SOON_MS ? warning(name, message) : ok(name, message)];
  });
  return found.length > 0 ? found : [skipped('tls', 'server.yaml has no `tls`')];
}

export function checkProxy(env: Readonly<Record<string, string | undefined>>, usesEgress: boolean): readonly Finding[] {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].filter((name) => env[name]);
  if (usesEgress || names.length === 0) return [];
  return [
    warning(
      'proxy',
      `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} set and not used: \`egress.proxy: env\` in server.yaml uses them, \`none\` does not`,
    ),
  ];
}
