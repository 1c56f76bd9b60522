import fc from 'fast-check';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from '../../../plugin/index.ts';
import { describe } from '../source/diagnostic.ts';
import { memoryFiles } from '../source/files.ts';
import { loadSettings, type LoadOptions, type LoadResult } from './load.ts';
import { runs } from '../../../../test/support/effort.ts';

const CATALOG = `providers:
  - slug: vertex
    provider: vertex-ai
    region: us-central1
    service_account: \${file:secrets/sa.json}
  - slug: claude
    provider: anthropic
    api_key: \${env:ANTHROPIC}
`;
const FILES = {
  'c/server.yaml': 'default_config: prod\n',
  'c/catalog.yaml': CATALOG,
  'c/keys.yaml': 'keys:\n  - { id: demo, key: "${env:DEMO:-demo-key-123}" }\n',
  'c/gateway/prod.yaml': 'name: Production\nprovider: "@vertex"\n',
  'c/gateway/README.md': 'not a config',
  'c/secrets/sa.json': '{"canary":"file"}\n',
};
const ENV = { ANTHROPIC: 'canary-env' };

function load(files: Record<string, string> = FILES, options: Partial<LoadOptions> = {}): Promise<LoadResult> {
  return loadSettings('c', { env: ENV, files: memoryFiles(files), now: 0, ...options });
}

async function settingsOf(files: Record<string, string>, options: Partial<LoadOptions> = {}) {
  const result = await load(files, options);
  expect(result.diagnostics.map(describe)).toEqual([]);
  return result.settings!;
}

test('a valid folder loads as typed settings, with gateway configs by file name', async () => {
  const settings = await settingsOf(FILES);
  expect(settings.server).toEqual({ default_config: 'prod' });
  expect([...settings.gateway]).toEqual([['prod', { name: 'Production', provider: '@vertex' }]]);
  expect(settings.files).toEqual([
    'c/server.yaml',
    'c/catalog.yaml',
    'c/secrets/sa.json',
    'c/keys.yaml',
    'c/gateway/prod.yaml',
  ]);
});

test('server.yaml and the gateway folder may be left out; the other two may not', async () => {
  const { 'c/catalog.yaml': catalog, 'c/keys.yaml': keys, 'c/secrets/sa.json': file } = FILES;
  const settings = await settingsOf({ 'c/catalog.yaml': catalog, 'c/keys.yaml': keys, 'c/secrets/sa.json': file });
  expect([settings.server, settings.gateway.size]).toEqual([{}, 0]);
  const result = await load({ 'c/other.txt': '' });
  expect(result.settings).toBeUndefined();
  expect(result.diagnostics.map(describe)).toEqual([
    'c/catalog.yaml:1:1: this file is missing',
    'c/keys.yaml:1:1: this file is missing',
  ]);
});

test('a folder that does not exist is reported', async () => {
  const result = await load({});
  expect(result.folderExists).toBe(false);
  expect(result.diagnostics.map(describe)).toEqual([
    'c:1:1: there is no such folder; `gatehouse init DIR` writes one, --configs DIR selects another',
  ]);
});

test('secrets are wrapped, know their source and never appear in printed settings', async () => {
  const settings = await settingsOf(FILES);
  const [vertex, claude] = settings.catalog.providers;
  const key = settings.keys.keys[0]?.key;
  if (vertex?.provider !== 'vertex-ai' || claude?.provider !== 'anthropic') throw new Error('unexpected order');
  if (!(vertex.service_account instanceof Secret)) throw new Error('not wrapped');
  expect([vertex.service_account.source, vertex.service_account.reveal()]).toEqual([
    'file:secrets/sa.json',
    '{"canary":"file"}',
  ]);
  expect([claude.api_key.source, claude.api_key.reveal()]).toEqual(['env:ANTHROPIC', 'canary-env']);
  expect([key?.source, key?.reveal()]).toEqual(['env:DEMO', 'demo-key-123']);
  expect(JSON.stringify(settings) + inspect(settings, { depth: 10 })).not.toMatch(/canary|demo-key/);
});

test('the private key of an inline service account is wrapped, the rest of it is not', async () => {
  const service = 'client_email: a@b.c\n      private_key: ${env:PEM}\n      universe_domain: googleapis.com';
  const catalog = `providers:\n  - slug: v\n    provider: vertex-ai\n    region: us\n    service_account:\n      ${service}\n`;
  const settings = await settingsOf(
    { ...FILES, 'c/catalog.yaml': catalog, 'c/gateway/prod.yaml': 'provider: "@v"\n' },
    { env: { PEM: 'canary' } },
  );
  const [entry] = settings.catalog.providers;
  if (entry?.provider !== 'vertex-ai' || !entry.service_account || entry.service_account instanceof Secret)
    throw new Error('unexpected');
  expect(entry.service_account.private_key).toBeInstanceOf(Secret);
  expect(entry.service_account['universe_domain']).toBe('googleapis.com');
});

test.each([
  [
    'a whole reference becomes the number that the schema expects',
    'limits: { json_depth: "${env:V}" }',
    '12',
    { limits: { json_depth: 12 } },
  ],
  ['a time without a unit is a number', 'timeouts: { idle: "${env:V}" }', '1500', { timeouts: { idle: 1500 } }],
  ['a time with a unit stays text', 'timeouts: { idle: "${env:V}" }', '30s', { timeouts: { idle: '30s' } }],
  ['text stays text where the schema expects text', 'listen: { host: "${env:V}" }', '127', { listen: { host: '127' } }],
  ['a reference may stand inside text', 'listen: { host: "${env:V}.example" }', 'a', { listen: { host: 'a.example' } }],
  ['an escape is a plain ${', 'listen: { host: "$${env:V}$" }', 'a', { listen: { host: '${env:V}$' } }],
  ['a default replaces an empty variable', 'listen: { host: "${env:V:-b:-c}" }', '', { listen: { host: 'b:-c' } }],
  ['a default may be empty', 'listen: { host: "x${env:W:-}" }', '', { listen: { host: 'x' } }],
  [
    'an alias has the value of its anchor',
    'listen: &l { port: 0 }\nstatus: *l',
    '',
    { listen: { port: 0 }, status: { port: 0 } },
  ],
])('%s', async (_title, yaml, value, expected) => {
  const { server } = await settingsOf({ ...FILES, 'c/server.yaml': `${yaml}\n` }, { env: { ...ENV, V: value } });
  expect(server).toEqual(expected);
});

test('without a schema, an unquoted reference reads as YAML would read its text', async () => {
  const yaml =
    'override_params:\n  num: ${env:N}\n  quoted: "${env:N}"\n  on: ${env:B}\n  no: ${env:NO}\n  big: ${env:BIG}\n';
  const env = { ...ENV, N: '0.5', B: 'true', NO: 'no', BIG: '12345678901234567890' };
  const { gateway } = await settingsOf({ ...FILES, 'c/gateway/prod.yaml': yaml }, { env });
  expect(gateway.get('prod')?.override_params).toEqual({
    num: 0.5,
    quoted: '0.5',
    on: true,
    no: 'no',
    big: '12345678901234567890',
  });
});

test('the hash changes with values, not with comments or secrets', async () => {
  const hash = async (files: Record<string, string>, env: Record<string, string> = ENV) =>
    (await settingsOf(files, { env })).hash;
  const base = await hash(FILES);
  expect(await hash({ ...FILES, 'c/server.yaml': '# a comment\ndefault_config: prod\n' })).toBe(base);
  expect(await hash(FILES, { ANTHROPIC: 'another' })).toBe(base);
  expect(await hash({ ...FILES, 'c/gateway/prod.yaml': 'name: Other\n' })).not.toBe(base);
});

test('later passes report at places in the files', async () => {
  const result = await load();
  expect(result.ok).toBe(true);
  result.reporter('catalog.yaml')({ path: ['providers', 1, 'slug'], message: 'is taken', on: 'key' });
  result.reporter('gateway/prod.yaml')({ path: ['plugins', 0], message: 'nothing there', severity: 'warning' });
  result.reporter('gateway/prod.yaml')({ path: ['provider'], message: 'unusable', suggestion: '@claude' });
  expect(result.diagnostics.map(describe)).toEqual([
    'c/catalog.yaml:6:5: is taken',
    'c/gateway/prod.yaml:1:1: warning: nothing there',
    'c/gateway/prod.yaml:2:11: unusable; did you mean "@claude"?',
  ]);
  expect([result.ok, result.settings === undefined]).toEqual([false, false]);
});

test('the name of a built-in object member is an unknown key like any other', async () => {
  const result = await load({ ...FILES, 'c/server.yaml': '__proto__: { port: 1 }\nconstructor: 1\n' });
  expect(result.diagnostics.map(describe)).toEqual([
    'c/server.yaml:1:1: unknown key `__proto__`',
    'c/server.yaml:2:1: unknown key `constructor`',
  ]);
});

test('loading any text ends in diagnostics with positions inside the file and without secrets', async () => {
  const original = FILES['c/catalog.yaml'].replace('${env:ANTHROPIC}', 'sk-ant-canary-0123456789');
  const insertion = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ':',
    ' ',
    '\n',
    '"',
    "'",
    '${',
    '&a ',
    '*a ',
    '|',
    '- ',
    '!',
    '\t',
    '#',
    '%',
    '\0',
    '\u{1F600}',
  );
  const edit = fc.record({ at: fc.nat(original.length), remove: fc.nat(12), insert: insertion });
  const mutated = fc
    .array(edit, { minLength: 1, maxLength: 4 })
    .map((edits) =>
      edits.reduce((text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove), original),
    );
  await fc.assert(
    fc.asyncProperty(mutated, async (text) => {
      const { diagnostics } = await load({ ...FILES, 'c/catalog.yaml': text });
      const lines = text.split(/\r\n|\n|\r/).length;
      for (const { file, line, column } of diagnostics) {
        expect([line >= 1, column >= 1, file !== 'c/catalog.yaml' || line <= lines + 1]).toEqual([true, true, true]);
      }
      // A key that an edit has cut in two no longer has the shape of a key.
      const isWhole = /(?<![A-Za-z0-9])sk-ant-canary-0123456789/.test(text);
      if (isWhole) expect(diagnostics.map(describe).join()).not.toContain('canary-0123456789');
    }),
    { numRuns: runs(300) },
  );
});
