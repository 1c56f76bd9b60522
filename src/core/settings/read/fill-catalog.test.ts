import { expect, test } from 'vitest';
import { memoryFiles } from '../source/files.ts';
import { loadSettings } from './load.ts';

test('an entry without a slug is named after its provider', async () => {
  const files = memoryFiles({
    'configs/catalog.yaml': 'providers: [{ provider: simulator, models: [x] }, { slug: own, provider: simulator }]\n',
    'configs/keys.yaml': 'keys: []\n',
    'configs/gateway/a.yaml': 'provider: "@simulator"\n',
  });
  const { settings, diagnostics } = await loadSettings('configs', { env: {}, files });
  expect(settings?.catalog.providers.map(({ slug }) => slug)).toEqual(['simulator', 'own']);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
});
