import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../../core/commands/terminal/arguments.ts';
import { FILES, recordWith, type Files } from '../effect/effect.testkit.ts';
import { explainCommands } from './commands.ts';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'gatehouse-diff-'));
  write('old', FILES);
  write('new', FILES);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function write(folder: string, files: Files): void {
  for (const [name, value] of Object.entries(files)) {
    const path = join(top, folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  }
}

const moved: Files = { 'gateway/prod.yaml': String(FILES['gateway/prod.yaml']).replaceAll('gpt-4o-mini', 'gpt-4.1') };

async function diff(args: readonly string[], input: string | Buffer = '') {
  let [out, err] = ['', ''];
  const run = new Map(explainCommands).get('diff')!;
  const code = await run.run([join(top, 'old'), join(top, 'new'), ...args], {
    env: {},
    terminal: undefined,
    out: (text) => (out += text),
    err: (text) => (err += text),
    input: () => Promise.resolve(Buffer.from(input)),
  });
  return { code, out, err };
}

describe('gatehouse diff', () => {
  test('exits with 0 if no request moves, with 1 if one does', async () => {
    expect(await diff([])).toEqual({ code: 0, out: '0 of 2 requests move, 2 do not\n', err: '' });
    write('new', moved);
    expect(await diff([])).toMatchObject({
      code: 1,
      out: expect.stringContaining('@openai/gpt-4o-mini → @openai/gpt-4.1'),
    });
  });

  test('exits with 1 if it is unknown whether one moves', async () => {
    write('new', {
      'gateway/prod.yaml': String(FILES['gateway/prod.yaml']).replace('metadata.tier', 'headers.x-tier'),
    });
    const { code, out } = await diff(['--requests', '-'], JSON.stringify(recordWith()));
    expect([code, out.split('\n')[0]]).toEqual([1, '0 of 1 requests move, 0 do not, 1 unknown']);
  });

  test('reads records and questions from a file', async () => {
    write('new', moved);
    const question = {
      headers: { 'x-gateway-config': 'prod' },
      body: { model: 'any', messages: [{ role: 'user', content: 'Hi' }] },
    };
    writeFileSync(join(top, 'requests.jsonl'), `${JSON.stringify(recordWith())}\n\n${JSON.stringify(question)}\n`);
    const { code, out } = await diff(['--requests', join(top, 'requests.jsonl'), '--format', 'json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ changes: [{ count: 2, sample: 'r-1' }], done: { changed: 2 } });
  });

  test.each<[string, Files, readonly string[], string | Buffer, string]>([
    ['settings that do not load', { 'gateway/prod.yaml': 'provider: 1\n' }, [], '', 'gateway/prod.yaml:1'],
    ['a line that is not JSON', {}, ['--requests', '-'], '{"request_id": canary', 'standard input:1: it is not JSON'],
    ['a line that is no question', {}, ['--requests', '-'], '{"boddy":{}}', 'standard input:1: `boddy`'],
    ['a question for a gateway that serves', {}, ['--requests', '-'], '{"of":"x"}', '`of` is for a running gateway'],
    ['a missing file', {}, ['--requests', 'none.jsonl'], '', 'the file none.jsonl cannot be read'],
    ['a folder in place of a file', {}, ['--requests', tmpdir()], '', 'cannot be read'],
    ['an endless line', {}, ['--requests', '/dev/zero'], '', '/dev/zero:1: it has more than 64 MiB'],
    ['bytes that are no text', {}, ['--requests', '-'], Buffer.from([0x22, 0xff]), 'standard input:1: it is not UTF-8'],
    ['lists without end', {}, ['--requests', '-'], '['.repeat(200_000), 'standard input:1: it is not JSON'],
  ])('exits with 2 for %s', async (_, files, args, input, message) => {
    write('new', files);
    const { code, out, err } = await diff(args, input);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(err).not.toContain('canary');
  });

  test('counts lines beyond the first thousand as unknown, in whatever pieces they come', async () => {
    write('new', moved);
    writeFileSync(join(top, 'many.jsonl'), `${JSON.stringify(recordWith())}\n`.repeat(1_234));
    const { code, out } = await diff(['--requests', join(top, 'many.jsonl'), '--format', 'json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ done: { changed: 1_000, unknown: 234 } });
  });

  test.each<[string, object]>([
    ['random numbers beyond 1', { draws: [7, -1, 1e308] }],
    [
      'a field as long as a page',
      {
        conditions: [
          {
            at: 'config',
            held: 'default',
            to: 'config.targets[1]',
            tests: [{ field: `params${'.a'.repeat(50_000)}`, found: 1 }],
          },
        ],
      },
    ],
    [
      'values that are no values',
      {
        conditions: [
          { at: 'config', held: 'conditions[1e9]', to: 'x', tests: [{ field: 'params.a', found: { a: [[]] } }] },
        ],
      },
    ],
    [
      'members of another kind',
      { conditions: 7, skipped: 'a', attempts: { a: 1 }, metadata: [1], config: 'prod', time: {}, model: [] },
    ],
    [
      'names of prototypes',
      { metadata: JSON.parse('{"__proto__":"a","constructor":"b"}'), key_id: 'constructor', operation: '__proto__' },
    ],
  ])('knows nothing of a record with %s, or compares it', async (_, more) => {
    write('new', moved);
    const { code } = await diff(['--requests', '-'], JSON.stringify({ ...recordWith(), ...more }));
    expect([0, 1]).toContain(code);
  });

  test.each([[['--format', 'xml']], [['--reqests', 'a']], [['more']]])('refuses the arguments %j', async (args) => {
    await expect(diff(args)).rejects.toThrow(UsageError);
  });
});
