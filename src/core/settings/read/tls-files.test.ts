import { afterAll, describe, expect, test } from 'vitest';
import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { Problem } from '../../kernel/report.ts';
import { memoryFiles } from '../source/files.ts';
import { Authority } from './certificates.testkit.ts';
import { readTlsFiles } from './tls-files.ts';

const authority = new Authority();
afterAll(() => authority.close());
const good = authority.issue();
const other = authority.issue();
const DAY_MS = 24 * 3600 * 1000;
/** The certificates of a test begin when it makes them: a minute later all are valid. */
const today = Date.now() + 60_000;
const later = today + 40 * DAY_MS;

const FILES = {
  'configs/tls.crt': good.cert,
  'configs/tls.key': good.key,
  '/etc/clients.pem': authority.cert,
  'configs/empty.pem': '',
  'configs/damaged.pem': good.cert.replace('MII', 'AII'),
  'configs/other.key': other.key,
  'configs/encrypted.key': authority.issue({ passphrase: 'canary-passphrase' }).key,
};

async function read(tls: NonNullable<ServerFile['tls']>, now = today, files: Record<string, string> = FILES) {
  const problems: Problem[] = [];
  const reading = { folder: 'configs', files: memoryFiles(files), now };
  const result = await readTlsFiles({ tls }, reading, (problem) => problems.push(problem));
  const written = problems.map(
    ({ path, severity = 'error', message }) =>
      `${path.join('.')}: ${severity === 'error' ? '' : 'warning: '}${message}`,
  );
  return { ...result, written };
}

const names = { cert: 'tls.crt', key: 'tls.key' };

describe('the files of `tls`', () => {
  test('are read from the settings folder or by their absolute path, and say when the certificate ends', async () => {
    const { tls, paths, written } = await read({ ...names, client_ca: '/etc/clients.pem' });
    expect(written).toEqual([]);
    expect(paths).toEqual(['configs/tls.crt', 'configs/tls.key', '/etc/clients.pem']);
    expect(tls.data).toMatchObject({ cert: good.cert, clientCa: authority.cert });
    expect(Math.round((tls.data!.expiresAt - today) / DAY_MS)).toBe(30);
    expect(JSON.stringify(tls)).not.toContain(good.key.split('\n')[1]);
  });

  test.each([
    [
      'are missing',
      { cert: 'no.crt', key: 'no.key' },
      ['tls.cert: there is no file configs/no.crt', 'tls.key: there is no file configs/no.key'],
    ],
    [
      'hold nothing',
      { cert: 'empty.pem', key: 'empty.pem' },
      [
        'tls.cert: this file has no certificate in PEM form: the lines from BEGIN CERTIFICATE to END CERTIFICATE',
        'tls.key: this file has no private key in PEM form (the lines from BEGIN PRIVATE KEY to END PRIVATE KEY), or a damaged one',
      ],
    ],
    ['are damaged', { cert: 'damaged.pem', key: 'tls.key' }, ['tls.cert: a certificate of this file is damaged']],
    [
      'have the key of another certificate',
      { cert: 'tls.crt', key: 'other.key' },
      ['tls.key: this private key is not that of the certificate in `cert`: was only one of the two renewed?'],
    ],
    [
      'have an encrypted key',
      { cert: 'tls.crt', key: 'encrypted.key' },
      [
        'tls.key: this private key is encrypted, and the gateway cannot ask for its passphrase: decrypt it (openssl pkey -in FILE -out NEW), and let only the gateway read the file',
      ],
    ],
    [
      'name no authority of clients',
      { ...names, client_ca: 'empty.pem' },
      ['tls.client_ca: this file has no certificate in PEM form: the lines from BEGIN CERTIFICATE to END CERTIFICATE'],
    ],
  ])('are refused where they %s', async (_, tls, expected) => {
    const {
      tls: { data },
      written,
    } = await read(tls);
    expect(written).toEqual(expected);
    expect(data).toBeUndefined();
  });

  test('are refused once the certificate has expired, with its authorities', async () => {
    const {
      tls: { data },
      written,
    } = await read({ ...names, client_ca: '/etc/clients.pem' }, later);
    expect(data).toBeUndefined();
    expect(written).toEqual([
      'tls.client_ca: all authorities of this file have expired',
      expect.stringMatching(/^tls\.cert: this certificate expired on \d{4}-\d\d-\d\d: clients refuse it$/),
    ]);
  });

  test('are accepted with a warning two weeks before the end, and before the beginning', async () => {
    const soon = await read(names, today + 20 * DAY_MS);
    expect(soon.tls.data).toBeDefined();
    expect(soon.written).toEqual([expect.stringMatching(/^tls\.cert: warning: this certificate expires soon, on /)]);
    const early = await read(names, today - 2 * DAY_MS);
    expect(early.written).toEqual([
      'tls.cert: warning: this certificate is not valid yet, by the clock of this machine',
    ]);
  });

  test('are accepted with a warning where the certificate names no host', async () => {
    const nameless = authority.issue({ names: '' });
    const files = { 'configs/tls.crt': nameless.cert, 'configs/tls.key': nameless.key };
    const { tls, written } = await read(names, today, files);
    expect(tls.data).toBeDefined();
    expect(written).toEqual([
      'tls.cert: warning: this certificate has no subjectAltName, so it names no host and clients refuse it',
    ]);
  });
});
