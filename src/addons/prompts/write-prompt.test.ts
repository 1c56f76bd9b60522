import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { PromptFile } from '../../../schemas/types.generated.ts';
import { writePrompt } from './write-prompt.ts';

const FILE = `# The summary.
description: Summarises a ticket. # for support
labels: { production: 1 }
versions:
  # The first one.
  1:
    digest: sha256:${'0'.repeat(64)}
    text: "Summarise: {{ticket}}"
    variables: { ticket: {} }
  2:
    note: shorter
    text: "Short: {{ticket}}"
    variables: { ticket: {} }
`;
const file = (): PromptFile => parse(FILE) as PromptFile;
const variables = { ticket: {} };

const changes: readonly (readonly [string, (was: PromptFile) => PromptFile])[] = [
  [
    'a new version',
    ({ versions, ...rest }) => ({
      ...rest,
      versions: { ...versions, 3: { text: 'Two\nlines: {{ticket}}', variables } },
    }),
  ],
  [
    'another text of a draft',
    ({ versions, ...rest }) => ({ ...rest, versions: { ...versions, 2: { text: 'Other: {{ticket}}', variables } } }),
  ],
  [
    'a release',
    ({ versions, ...rest }) => ({
      ...rest,
      versions: { ...versions, 2: { ...versions['2'], digest: `sha256:${'1'.repeat(64)}` } },
    }),
  ],
  ['another version of a label', (was) => ({ ...was, labels: { production: 2 } })],
  ['another label', (was) => ({ ...was, labels: { production: 1, staging: 2 } })],
  ['another description', (was) => ({ ...was, description: 'Summarises: "all" tickets.' })],
];

describe('a patch of the file of a prompt', () => {
  it.each(changes)('writes %s and leaves the other lines', (_, change) => {
    const wanted = change(file());
    const text = writePrompt(FILE, wanted);
    expect(parse(text ?? '')).toEqual(JSON.parse(JSON.stringify(wanted)));
    expect(text).toContain('# The summary.\n');
    expect(text).toContain('  # The first one.\n');
    const lines = new Set(text?.split('\n'));
    const lost = FILE.split('\n').filter((line) => !lines.has(line));
    expect(lost.length).toBeLessThanOrEqual(3);
  });

  it('makes a file where there is none', () => {
    expect(writePrompt('', { versions: { 1: { text: 'Hello' } } })).toBe('versions:\n  "1":\n    text: Hello\n');
  });

  it('is not written where a version is removed', () => {
    const { versions, ...rest } = file();
    expect(writePrompt(FILE, { ...rest, versions: { 1: versions['1']! } })).toBeUndefined();
  });

  it('leaves an equal document as it is', () => expect(writePrompt(FILE, file())).toBe(FILE));
});
