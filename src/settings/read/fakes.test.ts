import { createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { Secret } from '../../plugin/index.ts';
import { describe as tell } from '../problems/diagnostic.ts';
import { memoryFiles } from '../source/files.ts';
import { loadSettings, type LoadOptions } from './load.ts';

const FILES = {
  'c/catalog.yaml': `providers:
  - { slug: claude, provider: anthropic, api_key: "\${env:CLAUDE}" }
  - { slug: gpt, provider: openai, api_key: "\${env:GPT}", secret_headers: { x-team: "\${env:TEAM}-\${env:GPT}" } }
  - { slug: v, provider: vertex-ai, region: us, service_account: "\${file:sa.json}" }
  - { slug: w, provider: vertex-ai, region: us, credentials_json: "\${env:WIF}" }
`,
  'c/keys.yaml': 'keys:\n  - { id: a, key: "${env:KEY_A}" }\n  - { id: b, key: "${env:KEY_B}" }\n',
  'c/server.yaml': 'admin: { token: "${env:TOKEN}" }\n',
};

const load = (options: Partial<LoadOptions> = {}, files: Record<string, string> = FILES) =>
  loadSettings('c', { env: {}, files: memoryFiles(files), now: 0, fakeMissing: true, ...options });

test('settings without any of their secrets are sound with stand-ins, which are told by name, each once', async () => {
  const { diagnostics, fakedNames, ok } = await load();
  expect([diagnostics.map(tell), ok]).toEqual([[], true]);
  expect(fakedNames).toEqual([
    'env:TOKEN',
    'env:CLAUDE',
    'env:GPT',
    'env:TEAM',
    'file:sa.json',
    'env:WIF',
    'env:KEY_A',
    'env:KEY_B',
  ]);
});

test('a secret that is there is itself', async () => {
  const { settings, fakedNames } = await load({ env: { KEY_A: 'canary-key' } });
  expect(settings!.keys.keys.map(({ key }) => key!.reveal() === 'canary-key')).toEqual([true, false]);
  expect(fakedNames).not.toContain('env:KEY_A');
});

test('a stand-in is a secret as ever, and the same each time; two are never the same', async () => {
  const keys = async () => (await load()).settings!.keys.keys.map(({ key }) => key!);
  const [once, again] = [await keys(), await keys()];
  expect(once.every((key) => key instanceof Secret)).toBe(true);
  expect(once.map((key) => key.reveal())).toEqual(again.map((key) => key.reveal()));
  expect(new Set(once.map((key) => key.reveal())).size).toBe(2);
});

test('Google’s credentials are stood in for by a service account with a key of the right kind', async () => {
  const { settings } = await load();
  const [, , account, json] = settings!.catalog.providers;
  if (account?.provider !== 'vertex-ai' || json?.provider !== 'vertex-ai') throw new Error('unexpected order');
  for (const secret of [account.service_account, json.credentials_json]) {
    if (!(secret instanceof Secret)) throw new Error('not wrapped');
    const { type, private_key: pem } = JSON.parse(secret.reveal()) as { type: string; private_key: string };
    expect([type, createPrivateKey(pem).asymmetricKeyType]).toEqual(['service_account', 'rsa']);
  }
});

test('what is no secret is an error as ever', async () => {
  const catalog = 'providers: [{ slug: gpt, provider: openai, base_url: "${env:URL}", api_key: "${env:GPT}" }]\n';
  const { diagnostics, fakedNames } = await load({}, { ...FILES, 'c/catalog.yaml': catalog });
  expect(diagnostics.map(tell)).toEqual(['c/catalog.yaml:1:55: the environment variable `URL` is not set']);
  expect(fakedNames).toContain('env:GPT');
});

test('nothing is stood in for unless asked', async () => {
  const { ok, fakedNames } = await load({ fakeMissing: false });
  expect([ok, fakedNames]).toEqual([false, []]);
});
