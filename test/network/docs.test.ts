import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { Authority } from '../../src/core/settings/read/certificates.testkit.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';

const authority = new Authority();
afterAll(() => authority.close());
const { cert, key } = authority.issue();

/** The files that the examples name. */
const FILES = {
  '/etc/gatehouse/tls/tls.crt': cert,
  '/etc/gatehouse/tls/tls.key': key,
  '/etc/gatehouse/tls/clients.pem': authority.cert,
};
const SOUND = {
  'catalog.yaml': 'providers: [{ slug: sim, provider: simulator }]\n',
  'keys.yaml': 'keys: [{ id: a, key: "${env:OWN_KEY}" }]\n',
};
const CERTIFICATES = '  client_ca: /etc/gatehouse/tls/clients.pem';

describe('docs/operate/network.md', () => {
  const text = readFileSync(packageFile('docs/operate/network.md'), 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n# (\S+\.yaml)\n([\s\S]*?)^```/gm)].map(
    ([, name = '', yaml = '']) => [name, yaml] as const,
  );

  it('names the file of every YAML block', () => {
    expect(blocks.length).toBe(text.split('```yaml').length - 1);
    expect(blocks.length).toBeGreaterThanOrEqual(3);
  });

  it.each(blocks)('has an example of %s that loads without a complaint: %s', async (name, yaml) => {
    expect(stringify(parse(yaml))).not.toBe('');
    // Keys with `client_certificate` need a server that asks for certificates.
    const tls = yaml.includes('client_certificate')
      ? `tls:\n  cert: /etc/gatehouse/tls/tls.crt\n  key: /etc/gatehouse/tls/tls.key\n${CERTIFICATES}\n`
      : '';
    const texts: Record<string, string> = { 'server.yaml': tls, ...SOUND, [name]: yaml };
    const written = Object.entries(texts).map(([file, content]) => [join('configs', file), content]);
    const files = memoryFiles({ ...FILES, ...(Object.fromEntries(written) as Record<string, string>) });
    const env = {
      OWN_KEY: 'a-key-of-some-kind',
      SEARCH_KEY: 'the-key-of-search',
      BATCH_KEY: 'the-key-of-batch',
      PROXY_CREDENTIALS: 'u:p',
    };
    const { diagnostics } = await loadSettings('configs', { env, files });
    expect(diagnostics).toEqual([]);
  });
});
