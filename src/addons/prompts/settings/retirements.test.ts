import { expect, it } from 'vitest';
import { memoryFiles } from '../../../core/settings/source/files.ts';
import { loadSettings } from '../../../core/settings/read/load.ts';

const FILES = {
  'c/catalog.yaml': 'providers:\n  - { slug: open, provider: openai, api_key: "${env:KEY}" }\n',
  'c/keys.yaml': 'keys: []\n',
  'c/prompts/summary.yaml': `labels: { production: 2 }
versions:
  1: { model: "@open/gpt-4o", text: Old }
  2: { model: "@open/gpt-4o", text: In production }
  3: { model: "@open/gpt-4o-mini", text: The latest }
`,
};

it('a prompt warns of a model that retires in the latest version and in those of labels', async () => {
  const now = Date.UTC(2026, 10, 30);
  const { diagnostics } = await loadSettings('c', { env: { KEY: 'a-key-of-openai' }, files: memoryFiles(FILES), now });
  const found = diagnostics.filter(({ message }) => message.includes(' retires '));
  expect(found.map(({ file, line, message }) => `${file}:${line}: ${message}`)).toEqual([
    'c/prompts/summary.yaml:4: gpt-4o retires 2027-01-14, successor gpt-6-luna',
    'c/prompts/summary.yaml:5: gpt-4o-mini retires 2027-01-14, successor gpt-6-luna',
  ]);
});
