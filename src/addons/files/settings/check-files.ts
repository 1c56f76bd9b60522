import type { ServerFile } from '../../../../schemas/types.generated.ts';
import { providerOf } from '../../../core/providers/index.ts';
import { within, type Check, type CheckedSettings } from '../../../core/settings/checks/check.ts';
import { checkProviderName } from '../../../core/settings/checks/names.ts';
import type { Report } from '../../../core/kernel/report.ts';

export const checkFilesSettings: Check = (settings) => ({
  server: (file, report) => checkFiles(file, settings, report),
});

function checkFiles(file: ServerFile, known: CheckedSettings, report: Report): void {
  const { files, chains } = file;
  if (!files) return;
  for (const key of ['max_file_bytes', 'max_total_bytes', 'inline_bytes', 'ttl', 'idle_time'] as const) {
    const value = files[key];
    if (value !== undefined && /^0+(?:\.0+)?\D*$/.test(String(value)))
      report({ path: ['files', key], message: `\`${key}: 0\` would refuse every file; leave it out for the default` });
  }
  const names = chains?.entry?.map((item) => (typeof item === 'string' ? item : item.plugin));
  if (names && !names.includes('files'))
    report({
      path: ['files'],
      on: 'key',
      severity: 'warning',
      message: '`chains.entry` has no plugin `files`, so nothing answers `/v1/files`',
    });
  if (files.gcs) checkBucketEntry(files.gcs.provider, known, within(report, 'files', 'gcs', 'provider'));
}

/** The gateway itself stores the files, so the entry needs credentials of its own, and OAuth tokens. */
function checkBucketEntry(name: string, known: CheckedSettings, report: Report): void {
  const entry = known.catalog?.providers.find(({ slug }) => `@${slug}` === name);
  if (!entry) return checkProviderName(name, known, report);
  if (entry.provider !== 'vertex-ai')
    report({ path: [], message: `${name} is an entry of ${entry.provider}; Cloud Storage needs one of vertex-ai` });
  else if (entry.api_key || providerOf(entry).needsCallerToken(entry))
    report({ path: [], message: `${name} has no credentials for Cloud Storage: give it a service account` });
}
