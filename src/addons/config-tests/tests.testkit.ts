import { memoryFiles, type SettingsFiles } from '../../core/settings/source/files.ts';
import type { CaseOutcome } from './outcome.ts';

/** Settings for tests: two targets, one key. */
export const SETTINGS: Readonly<Record<string, string>> = {
  'catalog.yaml': 'providers:\n  - { slug: sim, provider: simulator }\n',
  'keys.yaml': 'keys:\n  - { id: team, key: "${env:TEAM_KEY}" }\n',
  'gateway/prod.yaml':
    'strategy: { mode: fallback }\nprovider: "@sim"\ntargets:\n  - { name: first }\n  - targets: [{ name: inner }]\n',
};

/** A folder `configs` in memory. */
export function folderWith(texts: Readonly<Record<string, string>>): SettingsFiles {
  const inFolder = Object.entries({ ...SETTINGS, ...texts }).map(([name, text]) => [`configs/${name}`, text]);
  return memoryFiles(Object.fromEntries(inFolder));
}

/** A case with `expect`, in its own file or as one of several. */
export const oneCase = (name: string, rest = 'expect: { status: 200 }'): string =>
  `  - name: ${name}\n    request: {}\n    ${rest}\n`;

/** The outcome that a runner would return. */
export const outcome = (status: number): CaseOutcome => ({
  attempts: [],
  calls: [],
  status,
  headers: {},
  text: '',
  stream: undefined,
  dropped: [],
  embeddings: [],
  metrics: [],
  faults: [],
});
