import { expect, it } from 'vitest';
import { memoryFiles } from '../../core/settings/source/files.ts';
import { loadSettings } from '../../core/settings/read/load.ts';

const FILES = {
  'c/catalog.yaml': `providers:
  - slug: claude
    provider: anthropic
    api_key: \${env:KEY}
    models: [claude-opus-4-5, claude-opus-4-5-20251101, claude-opus-5-5, claude-opus-4-1*]
  - { slug: google, provider: vertex-ai, project_id: my-project, region: global }
  - { slug: own, provider: openai, base_url: "https://llm.example", api_key: "\${env:KEY}" }
  - { slug: open, provider: openai, api_key: "\${env:KEY}" }
aliases:
  good: { target: "@claude/claude-opus-4-5" }
`,
  'c/keys.yaml': 'keys:\n  - { id: team, key: "${env:KEY}", models: ["@open/gpt-4o", gpt-4o] }\n',
  'c/gateway/prod.yaml': `strategy: { mode: fallback }
targets:
  - { provider: "@claude", override_params: { model: claude-opus-4-5-20251101 } }
  - { provider: "@google", default_params: { model: google/gemini-3.6-flash } }
  - { provider: "@own", override_params: { model: gpt-4o } }
  - { override_params: { model: "@open/gpt-4o" } }
  - { override_params: { model: good } }
`,
};
const OPUS = 'claude-opus-4-5 retires 2027-01-22, successor claude-opus-5-5';

const SNAPSHOT = 'claude-opus-4-5-20251101 retires 2027-01-22, successor claude-opus-5-5';
const GPT = 'gpt-4o retires 2027-01-14, successor gpt-6-luna';

async function warningsAt(moment: string): Promise<string[]> {
  const { diagnostics } = await loadSettings('c', {
    env: { KEY: 'the-key-of-the-team' },
    files: memoryFiles(FILES),
    now: Date.parse(moment),
  });
  return diagnostics
    .filter(({ message }) => message.includes(' retire'))
    .map(({ file, line, column, severity, message }) => `${file}:${line}:${column}: ${severity}: ${message}`);
}

it('warns within 60 days before a model retires, at each line that names it', async () => {
  expect(await warningsAt('2026-12-01T00:00:00Z')).toEqual([
    `c/catalog.yaml:5:14: warning: ${OPUS}`,
    `c/catalog.yaml:5:31: warning: ${SNAPSHOT}`,
    `c/catalog.yaml:10:19: warning: ${OPUS}`,
    `c/gateway/prod.yaml:3:54: warning: ${SNAPSHOT}`,
    'c/gateway/prod.yaml:4:53: warning: google/gemini-3.6-flash retires 2027-01-28',
    `c/gateway/prod.yaml:6:33: warning: ${GPT}`,
    `c/keys.yaml:2:45: warning: ${GPT}`,
  ]);
});

it.each([
  ['2026-11-14T23:59:59Z', []],
  ['2026-11-15T00:00:00Z', [GPT]],
  ['2027-01-14T23:59:59Z', [GPT]],
  ['2027-01-15T00:00:00Z', ['gpt-4o retired on 2027-01-14, successor gpt-6-luna']],
])('counts days of UTC: at %s', async (moment, warnings) => {
  const found = await warningsAt(moment);
  const ofKeys = found.filter((one) => one.startsWith('c/keys.yaml'));
  expect(ofKeys).toEqual(warnings.map((warning) => `c/keys.yaml:2:45: warning: ${warning}`));
});
