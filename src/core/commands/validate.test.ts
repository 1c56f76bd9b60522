import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ValidationPass } from '../process/add-on-parts.ts';
import { validateCommand, type ValidateOptions } from './validate.ts';

const SOUND = {
  'catalog.yaml': 'providers:\n  - { slug: sim, provider: openai, base_url: "https://sim.example/v1" }\n',
  'keys.yaml': 'keys:\n  - { id: a, key: "${env:KEY}" }\n',
};

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-validate-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries({ ...SOUND, ...files })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
}

async function run(options: Partial<ValidateOptions> = {}) {
  let text = '';
  const out = (more: string) => void (text += more);
  const code = await validateCommand({ dir, format: 'pretty', env: { KEY: 'canary-key' }, out, ...options });
  return { code, text: text.replaceAll(`${dir}/`, '').replaceAll(dir, 'DIR') };
}

describe('validate', () => {
  test('summarises a valid folder, exit code 0', async () => {
    write({ 'gateway/prod.yaml': 'provider: "@sim"\n' });
    expect(await run()).toEqual({ code: 0, text: 'DIR: valid (1 provider, 1 key, 1 gateway config)\n' });
  });

  test('accepts warnings, exit code 0', async () => {
    write({ 'sever.yaml': '' });
    expect(await run()).toEqual({
      code: 0,
      text: 'sever.yaml:1:1: warning: this file is ignored; did you mean "server.yaml"?\nDIR: valid (1 provider, 1 key, 0 gateway configs, 1 warning)\n',
    });
  });

  test('reports all errors, exit code 1', async () => {
    write({
      'server.yaml': 'lisen: {}\n',
      'gateway/prod.yaml': 'provider: "@smi"\nstrategy: [\n',
      'gateway/b.yaml': 'provider: "@smi"\n',
    });
    expect(await run()).toEqual({
      code: 1,
      text: [
        'gateway/b.yaml:1:11: there is no catalog entry @smi; did you mean "@sim"?',
        'gateway/prod.yaml:3:1: wrong indentation, or a bracket that is not closed',
        'server.yaml:1:1: unknown key `lisen`; did you mean "listen"?',
        'DIR: 3 errors',
        '',
      ].join('\n'),
    });
  });

  test('needs a folder, exit code 2', async () => {
    const missing = join(dir, 'none');
    expect(await run({ dir: missing })).toEqual({
      code: 2,
      text: 'none:1:1: there is no such folder; `gatehouse init DIR` writes one, --configs DIR selects another\nnone: 1 error\n',
    });
    write({});
    expect(await run({ dir: join(dir, 'keys.yaml') })).toMatchObject({
      code: 2,
      text: expect.stringContaining('this is a file, not a folder'),
    });
  });

  test('in json prints one document and nothing else', async () => {
    write({ 'server.yaml': 'lisen: {}\n' });
    const { code, text } = await run({ format: 'json' });
    expect(code).toBe(1);
    expect(JSON.parse(text)).toEqual({
      errors: 1,
      warnings: 0,
      diagnostics: [
        {
          file: 'server.yaml',
          line: 1,
          column: 1,
          severity: 'error',
          message: 'unknown key `lisen`',
          suggestion: 'listen',
        },
      ],
    });
  });

  test('in github prints workflow commands and nothing else', async () => {
    write({ 'server.yaml': 'lisen: {}\n' });
    expect(await run({ format: 'github' })).toEqual({
      code: 1,
      text: '::error file=server.yaml,line=1,col=1::unknown key `lisen`; did you mean "listen"?\n',
    });
    write({ 'server.yaml': '' });
    expect(await run({ format: 'github' })).toEqual({ code: 0, text: '' });
  });

  test('runs further passes, even after semantic errors, and prints their reports', async () => {
    write({ 'server.yaml': 'default_config: none\n' });
    const pass: ValidationPass = async (settings, result) => {
      result.reporter('catalog.yaml')({
        path: ['providers', 0, 'slug'],
        message: `nobody likes ${settings.catalog.providers[0]?.slug}`,
      });
    };
    expect(await run({ passes: [pass] })).toMatchObject({
      code: 1,
      text: 'catalog.yaml:2:13: nobody likes sim\nserver.yaml:1:17: there is no gateway/none.yaml\nDIR: 2 errors\n',
    });
  });

  test('runs no further passes on unreadable files, and says so', async () => {
    write({ 'keys.yaml': 'keys: 1\n' });
    const pass: ValidationPass = () => Promise.reject(new Error('must not run'));
    const { code, text } = await run({ passes: [pass] });
    expect([code, text.split('\n').at(-2)]).toEqual([
      1,
      'DIR: 1 error; plugins, credentials and tests are checked once these are fixed',
    ]);
  });
});
