import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BROKEN_PLUGINS, sourceOf } from '../../plugin/testing/broken-plugins.testkit.ts';
import { checkCommand } from './check-command.ts';
import type { CheckLimits } from './run-check.ts';

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-plugin-check-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function check(
  source: string,
  {
    json = true,
    options,
    limits,
  }: { readonly json?: boolean; readonly options?: string; readonly limits?: CheckLimits } = {},
) {
  const path = join(mkdtempSync(join(dir, 'one-')), 'plugin.mjs');
  writeFileSync(path, source);
  let optionsFile: string | undefined;
  if (options !== undefined) writeFileSync((optionsFile = `${path}.yaml`), options);
  let text = '';
  let told = '';
  const output = { out: (more: string) => void (text += more), err: (more: string) => void (told += more) };
  const code = await checkCommand({ path, optionsFile, json }, output, limits);
  return { code, text, told };
}

interface Answer {
  readonly plugins: readonly {
    readonly name: string;
    readonly findings: readonly { readonly rule: string; readonly message: string }[];
  }[];
}

const API = 'gatehouse-gateway/plugin';
const plugin = (
  name: string,
  create: string,
  options = '{}',
  required = '[]',
) => `import { definePlugin } from '${API}';
export default definePlugin({ name: '${name}', level: 'request',
  options: { type: 'object', additionalProperties: false, required: ${required}, properties: ${options} },
  create: ({ options }) => ${create} });`;
const GOOD = plugin('good', 'async (ctx, next) => next()');

describe('gatehouse plugin check', () => {
  it('says that a plugin follows all rules, and exits with 0', async () => {
    expect(await check(GOOD, { json: false })).toEqual({
      code: 0,
      text: '✓ good (request) follows all rules\n',
      told: '',
    });
  });

  it('shows each finding with rule, place and remedy, and exits with 1', async () => {
    const { code, text } = await check(plugin('twice', 'async (ctx, next) => { await next(); await next(); }'), {
      json: false,
    });
    expect([code, text]).toEqual([
      1,
      `twice (request)
  ✗ next-once  a plain reply: plugin "twice" called next() twice without declaring repeats
      Call \`next()\` once, or declare \`repeats: true\`.
`,
    ]);
  });

  it('creates the plugin with the options of a file', async () => {
    const needy = plugin(
      'needy',
      `{ if (options.a !== 'b') throw new Error('not b'); return (ctx, next) => next(); }`,
      `{ a: { type: 'string', description: 'A.' } }`,
      `['a']`,
    );
    expect(await check(needy, { options: 'a: b\n' })).toMatchObject({ code: 0 });
    expect((await check(needy)).text).toContain('"rule": "options-given"');
  });

  it('keeps what a plugin prints out of the JSON', async () => {
    const { text, told } = await check(`console.log('hello from the plugin');\n${GOOD}`);
    expect([JSON.parse(text), told]).toEqual([
      { plugins: [{ name: 'good', level: 'request', findings: [] }] },
      'hello from the plugin\n',
    ]);
  });

  it.each([
    ['an options file that is missing', 'none.yaml'],
    ['options that are a list', undefined],
  ])('exits with 2 for %s', async (_, optionsFile) => {
    const list = join(dir, 'list.yaml');
    writeFileSync(list, '[1]');
    let told = '';
    const output = { out: () => {}, err: (more: string) => void (told += more) };
    const code = await checkCommand({ path: list, optionsFile: optionsFile ?? list, json: false }, output);
    expect([code, told]).toEqual([2, expect.stringMatching(/^gatehouse: .*(?:ENOENT|options are a mapping)/)]);
  });

  // A busy machine may keep a process from its turns for seconds: only the plugin with the loop gets a short limit.
  it.each(BROKEN_PLUGINS.filter(({ process }) => process))('contains $kind: $rule', async (broken) => {
    const limits = broken.rule === 'blocks' ? { silentMs: 3000, totalMs: 180_000 } : undefined;
    const { code, text } = await check(sourceOf(broken, API), { ...(limits && { limits }) });
    const { plugins } = JSON.parse(text) as Answer;
    expect([code, plugins.map(({ findings }) => findings.map(({ rule }) => rule))]).toEqual([1, [[broken.rule]]]);
  });
});
