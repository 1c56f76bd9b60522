import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_KEY, startAdmin, type AdminGateway, type Answer } from './kit.ts';

const CANARY = 'sk-canary-of-the-files-0123456789';
const CATALOG = `providers:
  - slug: sim
    provider: simulator
  - slug: openai
    provider: openai
    api_key: ${CANARY}
    models: [gpt-6-sol]
`;
let admin: AdminGateway;
let token: string;

beforeAll(async () => {
  admin = await startAdmin({ catalog: CATALOG, gateway: { default: 'provider: "@sim"\n' } });
  token = await admin.token('viewer');
});
afterAll(() => admin.close());

const ask = (call: string, files: object, more = {}): Promise<Answer> =>
  admin.ask('POST', `/settings/${call}`, { token, body: { files, ...more } });
const get = (path: string): Promise<Answer> => admin.ask('GET', path, { token });
const textOf = async (path: string): Promise<string> => (await get(`/settings/file?path=${path}`)).json.text;

/** The text after the fix, if there is one. */
function fixed(
  text: string,
  { fix }: { fix?: { line: number; column: number; end_column: number; text: string } },
): string {
  if (!fix) return text;
  const lines = text.split('\n');
  const line = lines[fix.line - 1]!;
  lines[fix.line - 1] = line.slice(0, fix.column - 1) + fix.text + line.slice(fix.end_column - 1);
  return lines.join('\n');
}

describe('edited settings', () => {
  it.each([
    'provider: "@simm"\n',
    "provider: '@simm'\n",
    'strategy: { mode: falback }\ntargets: [{ provider: "@sim" }]\n',
    'targets:\n  - provider: "@sim"\n    retyr: { attempts: 2 }\n',
    'strategy:\n  mode: conditional\n  conditions:\n    - query: { metadata.tier: { $eqq: gold } }\n      then: a\n  default: a\ntargets: [{ name: a, provider: "@sim" }]\n',
  ])('have the marks of the validator, each with a fix that removes it: %j', async (text) => {
    const { json } = await ask('validate', { 'gateway/default.yaml': text });
    expect(json.diagnostics).toHaveLength(1);
    expect(json.diagnostics[0]).toMatchObject({ file: 'gateway/default.yaml', severity: 'error' });
    const after = await ask('validate', { 'gateway/default.yaml': fixed(text, json.diagnostics[0]) });
    expect(after.json.diagnostics).toEqual([]);
    expect(after.json.hash).toMatch(/^[0-9a-f]{16}$/);
  });

  it('read no variable and no file that they name: these are unchecked', async () => {
    const catalog = (await textOf('catalog.yaml')).replace(/api_key: .*/, 'api_key: ${file:/etc/passwd}');
    const { json, text } = await ask('validate', { 'catalog.yaml': catalog });
    expect(json.unchecked).toContain('file:/etc/passwd');
    expect(json.diagnostics).toEqual([]);
    expect(text).not.toContain('root:');
  });

  it.each([{}, { 'package.json': '{}' }, { '../server.yaml': '' }, { 'gateway/a/b.yaml': '' }])(
    'are settings files: %j is refused',
    async (files) => {
      for (const call of ['validate', 'patch']) expect((await ask(call, files)).json.code).toBe('invalid_body');
    },
  );

  it('keep the secrets of lines that are as they were shown, and no answer has one', async () => {
    const shown = await textOf('catalog.yaml');
    expect(shown).not.toContain(CANARY);
    const edited = shown.replace('models: [gpt-6-sol]', 'models: [gpt-6-sol, gpt-6-luna]');
    const validated = await ask('validate', { 'catalog.yaml': edited });
    // Warnings about secrets in clear text are of these files.
    expect(validated.json.diagnostics).toMatchObject([{ severity: 'warning', line: 6 }]);
    const patch = await ask('patch', { 'catalog.yaml': edited });
    expect(patch.json.patch).not.toMatch(/•|canary/);
    writeFileSync(join(admin.configs, 'gatehouse.patch'), patch.json.patch);
    execFileSync('sh', ['-c', patch.json.apply[0].replace(' && rm gatehouse.patch', '')], { cwd: admin.configs });
    expect(readFileSync(join(admin.configs, 'catalog.yaml'), 'utf8')).toBe(
      CATALOG.replace('models: [gpt-6-sol]', 'models: [gpt-6-sol, gpt-6-luna]'),
    );
    expect(await admin.gateway.reload()).toMatchObject({ outcome: 'changed' });
    const history = await get('/settings/history');
    expect(history.json.items[0].files).toMatchObject([{ path: 'catalog.yaml' }]);
    expect([validated.text, patch.text, history.text].join('')).not.toContain(CANARY);
  });

  it('with a changed line that has a mark are no patch, and the mark is a mistake', async () => {
    const shown = await textOf('catalog.yaml');
    const edited = shown.replace(/api_key: (•+)/, 'api_key: $1x');
    const { json } = await ask('validate', { 'catalog.yaml': edited });
    expect(json.diagnostics).toContainEqual(expect.objectContaining({ line: 6, severity: 'error' }));
    expect((await ask('patch', { 'catalog.yaml': edited })).json.code).toBe('cannot_patch');
    const without = shown.replace(/ +api_key: .*\n/, '');
    expect((await ask('patch', { 'catalog.yaml': without })).json.code).toBe('cannot_patch');
  });

  it('of other settings than those in force are refused with 412', async () => {
    const files = { 'gateway/default.yaml': 'provider: "@openai"\n' };
    const { hash } = (await get('/settings')).json;
    expect((await ask('patch', files, { base: hash })).status).toBe(200);
    expect((await ask('patch', files, { base: 'other' })).status).toBe(412);
  });

  it('may be a new file', async () => {
    const { json } = await ask('patch', { 'gateway/search.yaml': 'provider: "@sim"' });
    expect(json.patch).toBe('--- /dev/null\n+++ b/gateway/search.yaml\n@@ -0,0 +1,1 @@\n+provider: "@sim"\n');
  });
});

describe('the names of the settings', () => {
  it('are those in force, and no secret', async () => {
    const { json, text } = await get('/settings/names');
    expect(json).toMatchObject({ slugs: ['sim', 'openai'], keys: ['test'], configs: ['default'] });
    expect(json.models).toContain('@openai/gpt-6-sol');
    expect(json.kinds).toContain('vertex-ai');
    expect(text).not.toContain(FILE_KEY);
  });
});

describe('the schemas', () => {
  it('are those of the package, each with an ETag', async () => {
    for (const name of ['server', 'catalog', 'keys', 'gateway', 'prompt', 'prices', 'teams', 'test']) {
      const { status, json, headers } = await get(`/schemas/${name}`);
      expect([name, status, json.$id]).toEqual([name, 200, `https://gatehouse.dev/schemas/${name}.json`]);
      expect(headers.etag).toMatch(/^"[0-9a-f]{16}"$/);
    }
    expect((await get('/schemas/types')).status).toBe(404);
  });
});
