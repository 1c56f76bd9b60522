import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepOutput, TestFolder } from '../../../core/commands/folder.testkit.ts';
import { diffLines, diffPromptsCommand } from './diff.ts';
import { withEntry } from '../write-prompt.ts';
import { promotePromptCommand, releasePromptCommand } from './edit.ts';
import { listPromptsCommand } from './list.ts';
import type { PromptsOptions } from './read.ts';
import { renderPromptCommand } from './render.ts';

const SUMMARY = `# What support asks for.
description: Summarises a ticket. # kept
versions:
  # The first one.
  1:
    model: "@sim/small"
    variables: { ticket: { example: It broke. }, tone: { default: calm } }
    text: "{{> style}} Be {{tone}}: {{ticket}}"
  2: { variables: { ticket: {} }, text: "Briefly: {{ticket}}" }
`;

let folder: TestFolder;
beforeEach(() => {
  folder = new TestFolder();
  folder.write('catalog.yaml', 'providers:\n  - { slug: sim, provider: simulator }\n');
  folder.write('keys.yaml', 'keys: [{ id: a, key: "${env:NOT_SET_HERE}" }]\n');
  folder.write('prompts/summary.yaml', SUMMARY);
  folder.write('prompts/partials/style.txt', 'You are brief.\n');
});
afterEach(() => folder.remove());

/** Runs a command in the folder. */
async function run<O extends object>(
  command: (options: PromptsOptions & O) => Promise<number>,
  options: O,
): Promise<{ code: number; out: string; err: string }> {
  const output = keepOutput();
  const code = await command({ ...output, dir: folder.path, env: {}, ...options });
  const here = (text: string) => text.replaceAll(`${folder.path}/`, '');
  return { code, out: here(output.printed.out), err: here(output.printed.err) };
}
const release = (reference: string) => run(releasePromptCommand, { reference });
const promote = (reference: string, label: string) => run(promotePromptCommand, { reference, label });
const render = (reference: string, variables?: string) =>
  run(renderPromptCommand, { reference, variables, input: async () => Buffer.from('{"ticket":"From a pipe"}') });

describe('prompts list', () => {
  it('shows every version', async () => {
    const { code, out } = await run(listPromptsCommand, { format: 'table' as const });
    expect([code, out]).toEqual([
      0,
      `PROMPT     STATE  LABELS  MODEL       VARIABLES
summary@1  draft  -       @sim/small  ticket, tone
summary@2  draft  latest  -           ticket
`,
    ]);
  });

  it('prints the mistakes of prompts', async () => {
    folder.write('prompts/summary.yaml', 'versions: { 1: { text: "{{x}}" } }');
    const { code, err } = await run(listPromptsCommand, { format: 'json' as const });
    expect(code).toBe(1);
    expect(err).toContain('prompts/summary.yaml:1:25: `x` is not declared');
  });
});

describe('prompts render', () => {
  it('renders examples and defaults, a file, or standard input', async () => {
    const { code, out } = await render('summary@1');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      model: '@sim/small',
      messages: [{ role: 'user', content: 'You are brief. Be calm: It broke.' }],
    });
    expect((await render('summary', folder.write('v.json', '{"ticket":"From a file"}'))).out).toContain('From a file');
    expect((await render('summary@latest', '-')).out).toContain('From a pipe');
  });

  it.each([
    ['sumary', undefined, 'did you mean "summary"?'],
    ['summary@9', undefined, 'no version or label "9"'],
    ['summary@2', undefined, '`variables.ticket` is required.'],
    ['summary@2', '/does/not/exist.json', 'ENOENT'],
  ])('says what is wrong with %s %s', async (reference, variables, message) => {
    const { code, err } = await render(reference, variables);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });
});

describe('prompts diff', () => {
  it('shows the lines that differ, partials among them', async () => {
    const { out } = await run(diffPromptsCommand, { id: 'summary', from: '1', to: 'latest' });
    expect(out).toContain('--- summary@1\n+++ summary@2\n');
    expect(out).toContain('- text: "{{> style}} Be {{tone}}: {{ticket}}"\n');
    expect(out).toContain('+ text: "Briefly: {{ticket}}"\n');
    expect(out).toContain('-   style: You are brief.\n');
  });

  it.each([
    [['a', 'b'], ['a', 'b'], []],
    [
      ['a', 'b', 'c'],
      ['a', 'x', 'c'],
      ['  a', '- b', '+ x', '  c'],
    ],
    [[], ['a'], ['+ a']],
    [
      ['a', 'b', 'c'],
      ['b', 'c', 'd'],
      ['- a', '  b', '  c', '+ d'],
    ],
  ])('compares %j with %j', (old, now, expected) => {
    expect(diffLines(old, now)).toEqual(expected);
  });
});

describe('prompts release and promote', () => {
  it('write the digest and the label, and leave every other character as it was', async () => {
    expect((await promote('summary@1', 'production')).err).toContain('is a draft');
    for (const version of ['1', '2']) expect((await release(`summary@${version}`)).code).toBe(0);
    expect((await promote('summary@1', 'production')).out).toContain('summary@production is summary@1 now');
    expect((await promote('summary@2', 'production')).out).toContain('before summary@1');
    const text = folder.read('prompts/summary.yaml');
    const digests = [...text.matchAll(/sha256:[0-9a-f]{64}/g)].map(([digest]) => digest);
    expect(text).toBe(
      SUMMARY.replace('description:', 'labels:\n  production: 2\ndescription:')
        .replace('    model:', `    digest: ${digests[0]}\n    model:`)
        .replace('2: { variables', `2: { digest: ${digests[1]}, variables`),
    );
    expect((await release('summary@1')).out).toContain('released before');
  });

  it('guard a released version: an edit of its partial is an error', async () => {
    await release('summary@1');
    folder.write('prompts/partials/style.txt', 'You are verbose.\n');
    const { code, err } = await release('summary@2');
    expect(code).toBe(1);
    expect(err).toContain('prompts/summary.yaml:6:13: version 1 or a partial of it has changed');
  });

  it.each(['latest', '1', 'a b'])('refuse the label %j', async (label) => {
    await release('summary@1');
    expect((await promote('summary@1', label)).err).toContain('cannot be a label');
  });

  it.each([
    ['labels: { a: 1 }\n', ['labels'], ['a', 2], 'labels: { a: 2 }\n'],
    ['labels: { a: 1 }\n', ['labels'], ['b', 2], 'labels: { b: 2, a: 1 }\n'],
    ['labels: {}\n', ['labels'], ['b', 2], 'labels: {b: 2}\n'],
    ['labels:\r\n  a: 1\r\n', ['labels'], ['b', 2], 'labels:\r\n  b: 2\r\n  a: 1\r\n'],
    [
      '{ versions: { 1: { text: a } } }\n',
      ['labels'],
      ['b', 1],
      '{ labels: { b: 1 }, versions: { 1: { text: a } } }\n',
    ],
    ['a: &x { b: 1 }\nlabels: *x\n', ['labels'], ['b', 2], undefined],
  ] as const)('edit %j at %j: %j', (text, path, entry, expected) => {
    expect(withEntry(text, path, entry)).toBe(expected);
  });
});
