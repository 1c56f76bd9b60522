import type { RestartOnly } from '../../../core/process/restart-only.ts';

/** Keys of `admin` of server.yaml with which the listener opens. */
export const ADMIN_AT_START: readonly RestartOnly[] = [
  { path: ['admin', 'enabled'], read: ({ admin }) => admin.enabled },
  { path: ['admin', 'host'], read: ({ admin }) => admin.host },
  { path: ['admin', 'port'], read: ({ admin }) => admin.port },
  { path: ['admin', 'tls'], read: ({ admin }) => (admin.tls ? 'on' : 'off') },
];
