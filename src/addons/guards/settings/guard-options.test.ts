import { expect, it } from 'vitest';
import { samples } from '../../../core/commands/samples.generated.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';
import { memoryFiles } from '../../../core/settings/source/files.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const URL = 'https://guard.example.com';

it.each([
  ['server.yaml', `guards: [{ name: g, check: webhook, options: { url: "${URL}", secret: "${SECRET}" } }]\n`],
  [
    'keys.yaml',
    `keys: [{ id: a, digest: "sha256:${'0'.repeat(64)}", guards: [{ name: g, check: webhook, options: { url: "${URL}", secret: "${SECRET}" } }] }]\n`,
  ],
  [
    'gateway/default.yaml',
    `provider: "@demo"\nguards: [{ name: g, check: webhook, options: { url: "${URL}", secret: "${SECRET}" } }]\n`,
  ],
])('The secret of a webhook in %s is one that no page and no log shows', async (name, text) => {
  const files = Object.entries({ ...samples, [name]: text }).map(([file, own]) => [`configs/${file}`, own]);
  const loaded = await loadSettings('configs', { env: {}, files: memoryFiles(Object.fromEntries(files)) });
  expect(loaded.secrets()).toContain(SECRET);
});
