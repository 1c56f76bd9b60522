import { describe, expect, it } from 'vitest';
import { searchFor } from '../search/index.ts';
import { masked } from '../search/scan.ts';
import { guardsIn } from './guards-in.ts';

const inWords = (hooks: readonly unknown[], key = 'input_guardrails') => {
  const problems: string[] = [];
  const guards = guardsIn({ [key]: hooks }, ({ path, message }) => problems.push(`${path.join('.')}: ${message}`));
  return { guards, problems };
};

describe("a guard in Portkey's words", () => {
  it('is one with the same effect', () => {
    const { guards, problems } = inWords([
      { 'default.contains': { operator: 'none', words: ['Apple'] }, deny: true },
      { id: 'mine', checks: [{ id: 'default.wordCount', parameters: { minWords: 1, maxWords: 99_999 } }] },
      { check: { id: 'regexReplace', parameters: { rule: '[0-9]{4}', redactText: '#' } }, deny: true },
      { 'default.modelWhitelist': { Models: ['gpt-5'] }, deny: true },
    ]);
    const last = { last: true, kinds: ['text', 'tool_result'] };
    const of = { on: ['input'], on_unseen: 'allow' };
    expect(problems).toEqual([]);
    expect(guards).toEqual([
      {
        name: 'input_guardrails-1',
        action: 'deny',
        check: 'text',
        options: { contains: ['Apple'], operator: 'none' },
        only: last,
        ...of,
      },
      { name: 'mine', action: 'observe', check: 'text', options: { words: { min: 1 } }, only: last, ...of },
      {
        name: 'input_guardrails-3',
        action: 'mask',
        check: 'regex',
        options: { pattern: '[0-9]{4}', mask: '#' },
        only: last,
        ...of,
      },
      { name: 'input_guardrails-4', action: 'deny', check: 'models', options: { allow: ['gpt-5'] }, ...of },
    ]);
  });

  it.each([
    ['pg-1a2b', 'an id of a guardrail that Portkey keeps'],
    [{ deny: true }, 'there are no checks'],
    [{ 'portkey.pii': {}, deny: true }, "there is no check for Portkey's `portkey.pii`"],
    [{ checks: [{ parameters: {} }] }, 'a check has no `id`'],
    [{ 'default.jsonKeys': { keys: ['a'], operator: 'any' } }, 'its `operator` has to be `all`'],
  ])('is an error: %j', (hook, message) => {
    const { guards, problems } = inWords([hook], 'after_request_hooks');
    expect(guards).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(`after_request_hooks.0: `)]);
    expect(problems[0]).toContain(message);
  });
});

describe('a rule for whole texts', () => {
  it.each([
    [{ contains: ['a', 'b'] }, 'xB', 'xy'],
    [{ contains: ['a', 'b'], operator: 'all' }, 'ab', 'a'],
    [{ contains: ['a'], operator: 'none' }, 'b', 'A'],
    [{ pattern: '^x' }, 'xy', 'yx'],
    [{ not_pattern: '[0-9]{3}' }, '12', '123'],
    [{ words: { min: 2, max: 3 } }, 'a b', 'a'],
    [{ sentences: { max: 1 } }, 'One. ', 'One. Two!'],
    [{ characters: { max: 2 } }, '😀😀', 'abc'],
    [{ ends_with: '.' }, 'End.\n', 'End'],
    [{ letters: 'upper' }, 'ABC 1', 'Abc'],
    [{ letters: 'lower' }, 'abc', 'aBc'],
    [{ json_keys: ['a'] }, '{"a":1}', '[]'],
    [{ code: false }, 'a function of x', 'function f(x) {'],
    [{ empty: false }, 'x', ' '],
  ])('%j holds for %j, and not for %j', (rules, good, bad) => {
    const search = searchFor('text', { operator: 'any', ...rules })!;
    const matches = (text: string): number => {
      let count = 0;
      masked(text, search, () => (count += 1));
      return count;
    };
    expect([matches(good), matches(bad)]).toEqual([0, 1]);
  });
});
