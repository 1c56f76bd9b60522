import type { FilesGcs, FilesS3, ServerFile } from '../../../../schemas/types.generated.ts';
import { isIP } from 'node:net';
import { providerOf } from '../../../core/providers/index.ts';
import { within, type Check, type CheckedSettings } from '../../../core/settings/checks/check.ts';
import { isLocalHost, offLimits } from '../../../core/settings/checks/hosts.ts';
import { checkProviderName } from '../../../core/settings/checks/names.ts';
import { lacks } from '../../../core/settings/checks/needs.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { parseBytes } from '../../../core/kernel/units.ts';
import { hasPathStyle } from './files.ts';

export const checkFilesSettings: Check = (settings) => ({
  server: (file, report) => checkFiles(file, settings, report),
  key({ files }, report) {
    if (settings.server?.files?.s3) checkCopies(files?.max_file_bytes, within(report, 'files', 'max_file_bytes'));
  },
});

function checkFiles(file: ServerFile, known: CheckedSettings, report: Report): void {
  const { files, chains } = file;
  if (!files) return;
  for (const key of ['max_file_bytes', 'max_total_bytes', 'inline_bytes', 'ttl', 'idle_time'] as const) {
    const value = files[key];
    if (value !== undefined && /^0+(?:\.0+)?\D*$/.test(String(value)))
      report({ path: ['files', key], message: `\`${key}: 0\` would refuse every file; leave it out for the default` });
  }
  if (lacks([chains?.entry], 'files'))
    report({
      path: ['files'],
      on: 'key',
      severity: 'warning',
      message: '`chains.entry` has no plugin `files`, so nothing answers `/v1/files`',
    });
  if (files.gcs) {
    checkBucketEntry(files.gcs.provider, known, within(report, 'files', 'gcs', 'provider'));
    checkAddress(files.gcs.base_url, files.gcs, within(report, 'files', 'gcs', 'base_url'));
  }
  if (!files.s3) return;
  checkAddress(files.s3.endpoint, files.s3, within(report, 'files', 's3', 'endpoint'));
  checkBucketHost(files.s3, within(report, 'files', 's3', 'bucket'));
  checkCopies(files.max_file_bytes, within(report, 'files', 'max_file_bytes'));
}

/** The egress guard checks the addresses of the host when it connects. */
function checkAddress(
  address: string | undefined,
  { allow_insecure: insecure }: Pick<FilesGcs, 'allow_insecure'>,
  report: Report,
) {
  const url = URL.parse(address ?? '');
  if (!url) return address === undefined ? undefined : report({ path: [], message: 'this is not an address' });
  const refused = offLimits(url.hostname);
  if (refused !== undefined) return report({ path: [], message: `this is ${refused}` });
  if (insecure) return;
  const why =
    url.protocol === 'http:' ? 'plain http' : isLocalHost(url.hostname) ? 'a loopback or private address' : '';
  if (why !== '') report({ path: [], message: `this is ${why}: set allow_insecure: true if this is intended` });
}

/** A certificate for `*.HOST` covers no name with another dot in front (https://www.rfc-editor.org/rfc/rfc6125#section-6.4.3). */
function checkBucketHost(s3: FilesS3, report: Report): void {
  if (hasPathStyle(s3)) return;
  const { hostname = '' } = URL.parse(s3.endpoint ?? '') ?? {};
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)
    report({ path: [], message: 'the bucket cannot be a part of the host, which is an address: set path_style: true' });
  else if (s3.bucket.includes('.') && !s3.endpoint?.startsWith('http:'))
    report({
      path: [],
      message: 'no certificate covers a host with this bucket, because of its dots: set path_style: true',
    });
}

/** A larger object cannot be copied at once (docs/protocols/files.md#s3), and a copy makes a file visible. */
const MOST_COPIED = 5 * 1024 ** 3;

function checkCopies(bytes: number | string | undefined, report: Report): void {
  if (bytes !== undefined && parseBytes(bytes) > MOST_COPIED)
    report({ path: [], message: 'with `files.s3` a file has at most 5GiB' });
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
