import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { RestartOnly } from '../../../core/process/restart-only.ts';
import type { AdminSettings } from '../../../core/settings/compile/server-settings.ts';

interface Keys extends Pick<Partial<AdminSettings>, 'enabled' | 'explain' | 'content'> {
  readonly public_url?: string;
}

/** `admin` of server.yaml with its defaults. */
export function compileAdmin({ admin = {} }: ServerFile): AdminSettings {
  // A build without the add-ons explain and console has no such keys.
  const { enabled = true, explain = 'asked', content = false, public_url: publicUrl }: Keys = admin;
  return {
    enabled,
    host: admin.host ?? '127.0.0.1',
    port: admin.port ?? 8788,
    token: admin.token,
    role: admin.role ?? 'viewer',
    hosts: admin.hosts ?? [],
    records: admin.records ?? 10_000,
    explain,
    content,
    publicUrl,
    tls: admin.tls,
  };
}

/** Keys of `admin` of server.yaml with which the listener opens. */
export const ADMIN_AT_START: readonly RestartOnly[] = [
  { path: ['admin', 'enabled'], read: ({ admin }) => admin.enabled },
  { path: ['admin', 'host'], read: ({ admin }) => admin.host },
  { path: ['admin', 'port'], read: ({ admin }) => admin.port },
  { path: ['admin', 'tls'], read: ({ admin }) => (admin.tls ? 'on' : 'off') },
];
