import { version } from '../../../core/kernel/version.ts';
import type { Console } from '../../../core/process/console-port.ts';
import type { AdminOptions } from '../../../core/process/admin-port.ts';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import { valueAt } from '../../../core/settings/schema/pointer.ts';
import type { AdminIdentity } from './identity.ts';
import { ledgerLabelsOf } from './ledger-labels.ts';

/** Who calls, and what this gateway offers: the first call of the console. */
export function sessionBody(
  { actor, role, scopes, content, expiresAt, session, secret }: AdminIdentity,
  { state, inForce, settings, replica }: AdminOptions,
  { boot, kept }: Console,
): object {
  const { settings: ofFiles } = inForce();
  const { admin, listen } = settings();
  return {
    user: actor.id,
    role,
    ...(scopes && { scopes }),
    content,
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    session: session !== undefined,
    features: {
      store: state !== undefined,
      owns: [...(state?.owns ?? [])],
      seals: valueAt(ofFiles.server, ['state', 'encryption_keys']) !== undefined,
      records: kept !== undefined,
      labels: ledgerLabelsOf(ofFiles),
      explain: admin.explain,
      sign_in: session !== undefined || secret !== undefined,
    },
    version: version().version,
    settings_hash: ofFiles.hash,
    boot_id: boot.id,
    replica: replica()?.host ?? '',
    started_at: new Date(boot.startedAt).toISOString(),
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    data_url: dataUrl(listen, ofFiles.tls.data !== undefined),
  };
}

/** Null where the system has chosen the port. */
export const dataUrl = (
  { host, port }: Pick<ServerSettings['listen'], 'host' | 'port'>,
  secure: boolean,
): string | null =>
  port === 0 ? null : `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
