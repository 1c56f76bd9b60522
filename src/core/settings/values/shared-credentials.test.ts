import { describe, expect, test } from 'vitest';
import { Secret } from '../../../plugin/index.ts';
import { memoryFiles } from '../source/files.ts';
import { loadSettings } from '../read/load.ts';

const load = (catalog: string) =>
  loadSettings('configs', {
    env: { KEY: 'canary-key-0123456789' },
    files: memoryFiles({ 'configs/catalog.yaml': catalog, 'configs/keys.yaml': 'keys: []\n' }),
  });

describe('shared credentials', () => {
  test('are the credentials of every entry that names them, as secrets', async () => {
    const { settings, diagnostics } = await load(`
credentials:
  main: { api_key: "\${env:KEY}" }
  google: { service_account: { client_email: a@b.iam.gserviceaccount.com, private_key: "\${env:KEY}" } }
providers:
  - { provider: openai, credentials: main }
  - { slug: other, provider: openai, credentials: main, base_url: https://llm.example.com/v1 }
  - { provider: vertex-ai, region: us-central1, credentials: google }
  - { slug: adc, provider: vertex-ai, region: us-central1, project_id: my-project, credentials: metadata-server }
`);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const [one, other, vertex, adc] = settings!.catalog.providers;
    for (const entry of [one, other]) {
      expect(entry).not.toHaveProperty('credentials');
      expect((entry as { api_key?: Secret }).api_key?.reveal()).toBe('canary-key-0123456789');
    }
    expect(vertex).toMatchObject({ service_account: { private_key: expect.any(Secret) } });
    expect(adc).toMatchObject({ credentials: 'metadata-server' });
    expect(JSON.stringify(settings)).not.toContain('canary');
  });

  test.each([
    ['no object', 'credentials: [a]\nproviders: [{ provider: openai, credentials: a }]\n'],
    ['no list of entries', 'credentials: { a: { api_key: "${env:KEY}" } }\nproviders: 5\n'],
    [
      'no text as a name',
      'credentials: { a: { api_key: "${env:KEY}" } }\nproviders: [{ provider: openai, credentials: 5 }]\n',
    ],
    [
      'the name of an inherited property',
      'credentials: {}\nproviders: [{ provider: openai, credentials: constructor }]\n',
    ],
    [
      'text in place of credentials',
      'credentials: { a: "${env:KEY}" }\nproviders: [{ provider: openai, credentials: a }]\n',
    ],
  ])('with %s are an error, never an exception', async (_, catalog) => {
    const { settings, diagnostics } = await load(catalog);
    expect(settings).toBeUndefined();
    expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
    expect(JSON.stringify(diagnostics)).not.toContain('canary');
  });
});
