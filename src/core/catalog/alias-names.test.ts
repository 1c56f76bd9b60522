import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Access } from './access.ts';
import { AliasNames, targetOf } from './aliases.ts';

const names = new AliasNames(
  ['fast', 'openai/*', 'openai/ft-*', 'openai/gpt-5', '*', 'a*'].map((name) => [name, `to ${name}`]),
);

describe('a name of a model', () => {
  it.each([
    ['fast', 'fast', undefined],
    ['openai/gpt-5', 'openai/gpt-5', undefined],
    ['openai/gpt-5-mini', 'openai/*', 'gpt-5-mini'],
    ['openai/ft-x', 'openai/ft-*', 'x'],
    // Nothing stands for the star of the longer ones.
    ['openai/ft-', 'openai/*', 'ft-'],
    ['openai/', '*', 'openai/'],
    ['a', '*', 'a'],
    ['ab', 'a*', 'b'],
    ['Fast', '*', 'Fast'],
    ['toString', '*', 'toString'],
    ['__proto__', '*', '__proto__'],
    ['\ud83d\ude00', '*', '\ud83d\ude00'],
  ])('%s is the alias %s', (name, listed, rest) => {
    expect(names.find(name)).toEqual({ listed, alias: `to ${listed}`, rest });
  });

  it.each(['', '@openai/gpt-5', '@'])('is none, as %j', (name) => {
    expect(names.find(name)).toBeUndefined();
  });

  it('is found as by a search of all aliases', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 4 });
    fc.assert(
      fc.property(fc.uniqueArray(text, { maxLength: 8 }), fc.array(fc.boolean()), text, (all, stars, name) => {
        const listed = all.map((one, index) => (stars[index] ? `${one}*` : one));
        const found = new AliasNames(listed.map((one) => [one, one])).find(name);
        const fits = listed
          .filter((one) => one.endsWith('*') && name.startsWith(one.slice(0, -1)) && name.length >= one.length)
          .toSorted((one, other) => other.length - one.length);
        expect(found?.alias).toBe(listed.includes(name) ? name : fits[0]);
        if (found && found.rest !== undefined) expect(targetOf(found.listed, found.rest)).toBe(name);
      }),
    );
  });
});

describe('a list of models of a key', () => {
  const access = (...models: string[]) => new Access({ providers: undefined, models, fields: undefined }, names);

  it.each<[string, string, boolean]>([
    ['openai/*', 'openai/gpt-5-mini', true],
    ['openai/*', 'openai/ft-x', false],
    // Exact, and not by a pattern.
    ['openai/*', 'openai/gpt-5', false],
    ['openai/gpt-5-mini', 'openai/gpt-5-mini', true],
    ['openai/gpt-5-mini', 'openai/gpt-5', false],
    // A pattern allows the names of the wildcard that it is a part of.
    ['openai/gpt-*', 'openai/gpt-5-mini', true],
    ['openai/gpt-*', 'openai/gpt-5', false],
    ['openai/gpt-*', 'openai/o3', false],
    ['openai/f*', 'openai/ft-x', false],
    ['openai/f*', 'openai/fast', true],
    ['gpt-*', 'gpt-5', false],
    ['f*', 'fast', false],
    ['*', 'any', false],
  ])('with %s allows the alias %s: %s', (listed, name, allowed) => {
    expect(access(listed).allowsAlias(name)).toBe(allowed);
  });

  it.each<[string, string, boolean]>([
    ['openai/*', 'openai/gpt-5-mini', false],
    ['openai/gpt-5-mini', 'openai/gpt-5-mini', false],
    ['openai/gpt-*', 'openai/gpt-5-mini', true],
    ['*', 'any', true],
  ])('with %s allows a model %s of an entry: %s', (listed, model, allowed) => {
    expect(access(listed).allowsModel('@router', model)).toBe(allowed);
  });
});
