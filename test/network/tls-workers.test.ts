import { X509Certificate } from 'node:crypto';
import { afterAll, afterEach, expect, it } from 'vitest';
import { Authority } from '../../src/core/settings/read/certificates.testkit.ts';
import { startFleet } from '../cli/workers.testkit.ts';
import { until } from '../support/gateway.ts';
import { ask, certificateFolder } from './tls.testkit.ts';

const authority = new Authority();
afterAll(() => authority.close());
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

it('workers serve TLS with the certificate of the primary, and with its next one', async () => {
  const folder = certificateFolder();
  const [first, second] = [authority.issue(), authority.issue()];
  folder.install(first);
  const server = { tls: { cert: folder.cert, key: folder.key }, reload: { debounce: '50ms' } };
  const { fleet, url, statusUrl } = await startFleet(ended, { server });
  expect(url).toMatch(/^https:/);
  const fingerprints = async (): Promise<Set<string>> => {
    // Workers take turns with connections.
    const asked = Array.from({ length: 6 }, () =>
      ask(url, authority.cert, { path: '/v1/models', tls: { method: 'GET' } }),
    );
    return new Set((await Promise.all(asked)).map(({ status, fingerprint }) => `${status} ${fingerprint}`));
  };
  const servedBy = (pem: string): Set<string> => new Set([`200 ${new X509Certificate(pem).fingerprint256}`]);
  expect(await fingerprints()).toEqual(servedBy(first.cert));
  folder.install(second);
  await until(() => fleet.lines.filter(({ msg }) => msg === 'settings reloaded').length >= 3, 'all have reloaded');
  expect(await fingerprints()).toEqual(servedBy(second.cert));
  const metrics = await (await fetch(`${statusUrl}/metrics`)).text();
  expect(metrics).toContain('gatehouse_tls_certificate_expiry_timestamp_seconds{listener="data"}');
}, 60_000);
