import type { ServerFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../kernel/report.ts';
import { compileServerSettings, type ServerSettings } from '../settings/compile/server-settings.ts';

export interface RestartOnly {
  readonly path: readonly string[];
  readonly read: (settings: ServerSettings, file: ServerFile) => string | number | boolean | undefined;
  /** The value may contain credentials and is not shown. */
  readonly hidden?: true;
}

/** Keys of server.yaml that are read only at the start: listeners. Add-ons add theirs. */
export const RESTART_ONLY: RestartOnly[] = [
  { path: ['listen', 'host'], read: ({ listen }) => listen.host },
  { path: ['listen', 'port'], read: ({ listen }) => listen.port },
  { path: ['tls'], read: (_, { tls }) => (tls ? 'on' : 'off') },
  // A listener requests client certificates or not for its whole life; its authorities may change.
  { path: ['tls', 'client_ca'], read: (_, { tls }) => (tls?.client_ca === undefined ? 'off' : 'on') },
  { path: ['status', 'host'], read: ({ status }) => status.host },
  { path: ['status', 'port'], read: ({ status }) => status.port },
  { path: ['limits', 'header'], read: ({ limits }) => limits.header },
];

/** Called while an add-on is registered. */
export const addRestartOnly = (keys: readonly RestartOnly[]): void => void RESTART_ONLY.push(...keys);

/** Reports each changed key that needs a restart: such a reload is refused as a whole, or no files had its state. */
export function reportRestartOnly(running: ServerFile, next: ServerFile, report: Report): void {
  const before = compileServerSettings(running);
  const after = compileServerSettings(next);
  const reported: string[] = [];
  for (const { path, read, hidden } of RESTART_ONLY) {
    const key = path.join('.');
    const [old, wanted] = [read(before, running), read(after, next)];
    // A key below one that is already reported is not reported again.
    if (old === wanted || reported.some((outer) => key.startsWith(`${outer}.`))) continue;
    reported.push(key);
    const change = hidden ? '' : `: ${old} → ${wanted}`;
    report({
      path: [...path],
      message: `\`${key}\` changes only with a restart${change}; the reload is refused, and the previous settings still serve`,
    });
  }
}
