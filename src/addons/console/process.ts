import { uuidv7 } from '../../core/kernel/ids.ts';
import { packageFile } from '../../core/kernel/package-root.ts';
import type { ProcessPart, PartTools } from '../../core/process/process-part.ts';
import { createWrittenReader } from './settings/written-settings.ts';
import { Pages } from './page/pages.ts';
import { BrowserSessions } from './session/sessions.ts';

/** The page and its sessions, in the process that has the listener for operators. */
export function openConsole({ clock, configs }: PartTools): ProcessPart {
  const boot = { id: uuidv7(clock.wall()), startedAt: clock.wall() };
  const pages = new Pages(packageFile('dist/console'));
  const written = createWrittenReader(configs);
  return {
    console: { written, boot, sessions: new BrowserSessions(clock), page: (path) => pages.find(path) },
    dry: () => ({}),
  };
}
