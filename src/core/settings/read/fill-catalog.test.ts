import { expect, test } from 'vitest';
import { memoryFiles } from '../source/files.ts';
import { loadSettings } from './load.ts';

test('an entry without a slug is named after its provider', async () => {
  const files = memoryFiles({
    'configs/catalog.yaml':
      'providers: [{ provider: openai, api_key: "${env:KEY}" }, { slug: own, provider: openai, api_key: "${env:KEY}" }]\n',
    'configs/keys.yaml': 'keys: []\n',
    'configs/gateway/a.yaml': 'provider: "@openai"\n',
  });
  const { settings, diagnostics } = await loadSettings('configs', { env: { KEY: 'sk-1' }, files });
  expect(settings?.catalog.providers.map(({ slug }) => slug)).toEqual(['openai', 'own']);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
});
