import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { appendEntry, removeEntry } from './edit-keys.ts';
import { keysFiles, type GeneratedFile } from './keys-file.testkit.ts';
import { runs } from '../../../../test/support/effort.ts';

const NEW = { id: 'new', digest: 'sha256:0' };

const append = (text: string, comment?: string) => appendEntry(text, NEW, comment);
const lines = (...all: string[]): string => `${all.join('\n')}\n`;

describe('an entry is added', () => {
  test.each<[string, string, string]>([
    [
      'after the last line',
      lines('keys:', '  - id: a'),
      lines('keys:', '  - id: a', '  - id: new', '    digest: sha256:0'),
    ],
    [
      'without indentation if the list has none',
      lines('keys:', '- id: a'),
      lines('keys:', '- id: a', '- id: new', '  digest: sha256:0'),
    ],
    [
      'to a file without a newline at its end',
      'keys:\n  - id: a',
      'keys:\n  - id: a\n  - id: new\n    digest: sha256:0',
    ],
    [
      'with the line ends of the file',
      'keys:\r\n  - id: a\r\n',
      'keys:\r\n  - id: a\r\n  - id: new\r\n    digest: sha256:0\r\n',
    ],
    ['to an empty list', 'keys: []\n', lines('keys:', '  - id: new', '    digest: sha256:0')],
    [
      'to an empty list with a comment',
      lines('keys: [] # none yet', '# end'),
      lines('keys: # none yet', '  - id: new', '    digest: sha256:0', '# end'),
    ],
    ['to an empty list with a comment in it', lines('keys: [', '  # none yet', ']'), 'refused'],
    ['to a list in brackets', 'keys: [{ id: a }]\n', 'refused'],
    ['to a file in one line', '{ keys: [] }\n', 'refused'],
    [
      'after an entry in one line and its comment',
      lines('keys:', '  - { id: a } # ours'),
      lines('keys:', '  - { id: a } # ours', '  - id: new', '    digest: sha256:0'),
    ],
    [
      'before comments at the end and other keys',
      lines('keys:', '  - id: a', '', '  # - id: b', 'other: 1'),
      lines('keys:', '  - id: a', '  - id: new', '    digest: sha256:0', '', '  # - id: b', 'other: 1'),
    ],
    [
      'after a block scalar',
      lines('keys:', '  - id: a', '    key: >-', '      long', '      text'),
      lines('keys:', '  - id: a', '    key: >-', '      long', '      text', '  - id: new', '    digest: sha256:0'),
    ],
    [
      'after an alias',
      lines('n: &n [x]', 'keys:', '  - id: a', '    networks: *n'),
      lines('n: &n [x]', 'keys:', '  - id: a', '    networks: *n', '  - id: new', '    digest: sha256:0'),
    ],
    ['to a list with an anchor', lines('keys: &all', '  - id: a', 'b: *all'), 'refused'],
  ])('%s', (_, text, expected) => {
    expect(append(text)).toEqual(expected === 'refused' ? REFUSED : { text: expected });
  });

  test('with a comment above it and a blank line before that', () => {
    expect(append(lines('keys:', '  - id: a'), 'Of ours:\nhandle with care.')).toEqual({
      text: lines(
        'keys:',
        '  - id: a',
        '',
        '  # Of ours:',
        '  # handle with care.',
        '  - id: new',
        '    digest: sha256:0',
      ),
    });
  });
});

const REFUSED = { problem: expect.stringContaining('by hand') };

describe('an entry is removed', () => {
  const B = '  - id: b';
  test.each<[string, number, string, string]>([
    ['the first', 0, lines('keys:', '  - id: a', '    key: x', B), lines('keys:', B)],
    ['the last', 1, lines('keys:', B, '  - id: a', '    key: x'), lines('keys:', B)],
    ['the only one', 0, lines('keys: # ours', '  - id: a', '# end'), lines('keys: [] # ours', '# end')],
    ['the last, without a newline at the end', 1, `keys:\n${B}\n  - id: a`, `keys:\n${B}`],
    ['with Windows line ends', 0, `keys:\r\n  - id: a\r\n${B}\r\n`, `keys:\r\n${B}\r\n`],
    [
      'with the comments inside it, and without those around it',
      1,
      lines('keys:', B, '  # above', '  - id: a # in', '    # in too', '    key: x # and in', '  # below', '  - id: c'),
      lines('keys:', B, '  # above', '  # below', '  - id: c'),
    ],
    [
      'with one of the two blank lines around it',
      1,
      lines('keys:', B, '', '  - id: a', '', '  - id: c'),
      lines('keys:', B, '', '  - id: c'),
    ],
    [
      'with its whole block scalar',
      0,
      lines('keys:', '  - id: a', '    key: |', '      x', '', '      # text', B),
      lines('keys:', B),
    ],
    ['an entry in one line', 0, lines('keys:', '  - { id: a } # ours', B), lines('keys:', B)],
    ['an entry with its dash on a separate line', 0, lines('keys:', '  -', '    id: a', B), lines('keys:', B)],
    ['an entry with an unused anchor', 0, lines('keys:', '  - &a', '    id: a', B), lines('keys:', B)],
    [
      'an entry with an anchor that others use',
      0,
      lines('keys:', '  - id: a', '    networks: &n [x]', '  - { id: b, networks: *n }'),
      'refused',
    ],
    ['of a list in brackets', 0, 'keys: [{ id: a }, { id: b }]\n', 'refused'],
    ['JSON', 0, '{"keys":[{"id":"a"},{"id":"b"}]}', 'refused'],
    ['an entry that does not exist', 2, lines('keys:', B), 'refused'],
  ])('%s', (_, index, text, expected) => {
    expect(removeEntry(text, index)).toEqual(expected === 'refused' ? REFUSED : { text: expected });
  });

  test('if a comment would become text, nothing is changed', () => {
    const text = lines(
      'keys:',
      '  - id: a',
      '    key: |+',
      '      text',
      '',
      '  - id: b',
      '',
      '      # outside',
      '  - id: c',
    );
    const edit = removeEntry(text, 1);
    if ('text' in edit) expect(parse(edit.text)).toEqual({ keys: [parse(text).keys[0], parse(text).keys[2]] });
    else expect(edit).toEqual(REFUSED);
  });
});

describe('a text without a list of keys is not edited', () => {
  test.each([
    '',
    '# nothing\n',
    'keys:\n',
    'keys: 1\n',
    '- id: a\n',
    'keys: &k []\nother: *k\n',
    'keys: [\n',
    'kees: []\n',
  ])('%j', (text) => {
    expect(append(text)).toEqual(REFUSED);
    expect(removeEntry(text, 0)).toEqual(REFUSED);
  });
});

describe('in any layout', () => {
  const values = (text: string): unknown[] => parse(text, { logLevel: 'error' }).keys;
  const kept = (text: string, comments: readonly string[]): readonly string[] =>
    comments.filter((comment) => new RegExp(`${comment}$`, 'm').test(text.replaceAll('\r', '')));

  test('adding inserts one piece of text and changes nothing else', () => {
    fc.assert(
      fc.property(keysFiles(), fc.option(fc.constant('Why.'), { nil: undefined }), ({ text }, comment) => {
        const edit = append(text, comment);
        const after = 'text' in edit ? edit.text : '';
        expect(values(after)).toEqual([...values(text), NEW]);
        let same = 0;
        while (same < text.length && after[same] === text[same]) same += 1;
        expect(after.endsWith(text.slice(same))).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  test('removing a just added entry restores the text', () => {
    fc.assert(
      fc.property(keysFiles(), ({ text }) => {
        const added = append(text);
        expect(removeEntry('text' in added ? added.text : '', values(text).length)).toEqual({ text });
      }),
      { numRuns: runs(500) },
    );
  });

  test('removing cuts exactly the entry, and all comments outside of it stay', () => {
    fc.assert(
      fc.property(keysFiles(), fc.nat(), ({ text, inside, outside }: GeneratedFile, choice) => {
        const index = choice % inside.length;
        const edit = removeEntry(text, index);
        const after = 'text' in edit ? edit.text : '';
        expect(values(after)).toEqual(values(text).toSpliced(index, 1));
        const others = [...outside, ...inside.toSpliced(index, 1).flat()];
        expect(kept(after, others)).toEqual(others);
        expect(kept(after, inside[index]!)).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  test('a randomly damaged text is edited as intended or refused', () => {
    const pieces = fc.constantFrom(
      '#',
      ' ',
      '\n',
      ',',
      ']',
      '[',
      '{',
      '- ',
      ': ',
      '|',
      '&a ',
      '*a',
      '"',
      '    ',
      '\t',
      '!!str ',
      '---\n',
    );
    const damaged = fc.tuple(keysFiles(), fc.nat(), fc.nat(3), pieces).map(([{ text }, at, cut, piece]) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + piece + text.slice(from + cut);
    });
    fc.assert(
      fc.property(damaged, fc.nat(4), (text, index) => {
        const removed = removeEntry(text, index);
        if ('text' in removed) expect(values(removed.text)).toEqual(values(text).toSpliced(index, 1));
        else expect(removed).toEqual(REFUSED);
        const added = append(text, 'Why.');
        if ('text' in added) expect(values(added.text)).toEqual([...values(text), NEW]);
        else expect(added).toEqual(REFUSED);
      }),
      { numRuns: runs(1000) },
    );
  });
});
