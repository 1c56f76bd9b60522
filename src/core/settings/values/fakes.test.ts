import { createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { Secret } from '../../../plugin/index.ts';
import { describe as describeDiagnostic } from '../source/diagnostic.ts';
import { memoryFiles } from '../source/files.ts';
import { loadSettings, type LoadOptions } from '../read/load.ts';

const FILES = {
  'c/catalog.yaml': `providers:
  - { slug: claude, provider: anthropic, api_key: "\${env:CLAUDE}" }
  - { slug: gpt, provider: openai, api_key: "\${env:GPT}", secret_headers: { x-team: "\${env:TEAM}-\${env:GPT}" } }
  - { slug: v, provider: vertex-ai, region: us, service_account: "\${file:sa.json}" }
  - { slug: w, provider: vertex-ai, region: us, credentials_json: "\${env:WIF}" }
`,
  'c/keys.yaml': 'keys:\n  - { id: a, key: "${env:KEY_A}" }\n  - { id: b, key: "${env:KEY_B}" }\n',
  'c/server.yaml': 'egress: { proxy: "http://proxy.example.com:3128", proxy_credentials: "${env:LOGIN}" }\n',
};

const load = (options: Partial<LoadOptions> = {}, files: Record<string, string> = FILES) =>
  loadSettings('c', { env: {}, files: memoryFiles(files), now: 0, fakeMissing: true, ...options });

test('settings without their secrets are valid with fakes, whose references are listed once each', async () => {
  const { diagnostics, fakedNames, ok } = await load();
  expect([diagnostics.map(describeDiagnostic), ok]).toEqual([[], true]);
  expect(fakedNames).toEqual([
    'env:LOGIN',
    'env:CLAUDE',
    'env:GPT',
    'env:TEAM',
    'file:sa.json',
    'env:WIF',
    'env:KEY_A',
    'env:KEY_B',
  ]);
});

test('a secret that is available is not faked', async () => {
  const { settings, fakedNames } = await load({ env: { KEY_A: 'canary-key' } });
  expect(settings!.keys.keys.map(({ key }) => key!.reveal() === 'canary-key')).toEqual([true, false]);
  expect(fakedNames).not.toContain('env:KEY_A');
});

test('a fake is wrapped as a secret, stays the same for one reference and differs between references', async () => {
  const keys = async () => (await load()).settings!.keys.keys.map(({ key }) => key!);
  const [once, again] = [await keys(), await keys()];
  expect(once.every((key) => key instanceof Secret)).toBe(true);
  expect(once.map((key) => key.reveal())).toEqual(again.map((key) => key.reveal()));
  expect(new Set(once.map((key) => key.reveal())).size).toBe(2);
});

test('the fake of a Google credential is a service account with an RSA key', async () => {
  const { settings } = await load();
  const [, , account, json] = settings!.catalog.providers;
  if (account?.provider !== 'vertex-ai' || json?.provider !== 'vertex-ai') throw new Error('unexpected order');
  for (const secret of [account.service_account, json.credentials_json]) {
    if (!(secret instanceof Secret)) throw new Error('not wrapped');
    const { type, private_key: pem } = JSON.parse(secret.reveal()) as { type: string; private_key: string };
    expect([type, createPrivateKey(pem).asymmetricKeyType]).toEqual(['service_account', 'rsa']);
  }
});

test('a missing reference outside a secret field is still an error', async () => {
  const catalog = 'providers: [{ slug: gpt, provider: openai, base_url: "${env:URL}", api_key: "${env:GPT}" }]\n';
  const { diagnostics, fakedNames } = await load({}, { ...FILES, 'c/catalog.yaml': catalog });
  expect(diagnostics.map(describeDiagnostic)).toEqual([
    'c/catalog.yaml:1:55: the environment variable `URL` is not set',
  ]);
  expect(fakedNames).toContain('env:GPT');
});

test('nothing is faked without `fakeMissing`', async () => {
  const { ok, fakedNames } = await load({ fakeMissing: false });
  expect([ok, fakedNames]).toEqual([false, []]);
});
