import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Renderer, TooLong } from './render.ts';
import { onlyVariable, parseTemplate } from './template.ts';

const render = (
  text: string,
  variables: Record<string, unknown> = {},
  partials: Record<string, string> = {},
): string => {
  const compiled = new Map(Object.entries(partials).map(([name, partial]) => [name, parseTemplate(partial)]));
  return new Renderer({ partials: compiled, variables }, 100_000).render(parseTemplate(text));
};

describe('a template', () => {
  it.each([
    ['inserts a value without HTML escaping', 'a {{x}} {{{x}}} {{& x }}', { x: '<&">' }, 'a <&"> <&"> <&">'],
    ['inserts numbers and booleans', '{{n}}{{b}}', { n: 0.5, b: false }, '0.5false'],
    ['inserts objects and lists as JSON', '{{o}}', { o: { a: [1] } }, '{"a":[1]}'],
    ['inserts nothing for a missing value', '[{{x}}{{y.z}}]', { y: 'text' }, '[]'],
    ['repeats a section for every item', '{{#l}}<{{.}}>{{/l}}', { l: ['a', 'b'] }, '<a><b>'],
    [
      'reads keys of items, then of the variables around',
      '{{#l}}{{a}}{{t}}{{/l}}',
      { l: [{ a: 1 }, {}], t: '!' },
      '1!!',
    ],
    ['renders a section once for a value', '{{#x}}yes{{/x}}{{^x}}no{{/x}}', { x: 'a' }, 'yes'],
    ['renders an inverted section for an empty list', '{{#x}}yes{{/x}}{{^x}}no{{/x}}', { x: [] }, 'no'],
    ['drops comments', 'a{{! no {x} }}b', {}, 'ab'],
    ['drops the line of a section that stands alone', 'a\n  {{#x}}\nb\n  {{/x}}\nc', { x: true }, 'a\nb\nc'],
    ['keeps the line of a variable', 'a\n{{x}}\nb', { x: '' }, 'a\n\nb'],
  ])('%s', (_, text, variables, expected) => {
    expect(parseTemplate(text).mistakes).toEqual([]);
    expect(render(text, variables)).toBe(expected);
  });

  it('inserts partials, which read the values of the section around them', () => {
    expect(render('{{#l}}{{> p}}{{/l}}', { l: [{ a: 1 }, { a: 2 }] }, { p: '[{{a}}]' })).toBe('[1][2]');
  });

  it('reads own properties only', () => {
    expect(render('{{constructor}}{{x.length}}{{x.__proto__}}{{#toString}}!{{/toString}}', { x: 'abc' })).toBe('');
  });

  it('leaves tags in values alone', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(render('a{{x}}b', { x: value, y: 'secret' })).toBe(`a${value}b`);
      }),
    );
    expect(render('{{x}}', { x: '{{y}}{{#l}}', y: 'secret' })).toBe('{{y}}{{#l}}');
  });

  it.each([
    ['{{x', 0, 'never closed'],
    ['a {{#x}} b', 2, 'never closed'],
    ['{{/x}}', 0, 'closes no section'],
    ['{{#a}}{{/b}}', 6, 'closes the section'],
    ['{{=<% %>=}}', 0, 'delimiters'],
    ['{{a b}}', 0, 'not the name of a variable'],
    ['{{> ../x}}', 0, 'not the name of a partial'],
    ['{{#a}}'.repeat(17) + '{{/a}}'.repeat(17), 16 * 6, 'nest'],
  ])('has a mistake at its place: %s', (text, at, message) => {
    expect(parseTemplate(text).mistakes[0]).toEqual({ at, message: expect.stringContaining(message) });
  });

  it('is parsed for any text', () => {
    const pieces = fc.constantFrom('{{', '}}', '{{{', '#', '/', '^', 'x', ' ', '\n', '{{#x}}', '{{/x}}', '{{> p}}');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        expect(() => render(parts.join(''), { x: [1, 2] })).not.toThrow();
      }),
    );
  });

  it('is a lone variable only without other text', () => {
    expect(onlyVariable(parseTemplate(' {{x}}\n'))).toBe('x');
    for (const text of ['a{{x}}', '{{x}}{{y}}', '{{#x}}{{/x}}', '{{x.y}}', ''])
      expect(onlyVariable(parseTemplate(text)), text).toBeUndefined();
  });
});

describe('the budget of a rendering', () => {
  const run =
    (text: string, variables: Record<string, unknown>, partials: Record<string, string> = {}) =>
    () => {
      const compiled = new Map(Object.entries(partials).map(([name, partial]) => [name, parseTemplate(partial)]));
      return new Renderer({ partials: compiled, variables }, 1000).render(parseTemplate(text));
    };

  it('ends a text that is too long', () => {
    expect(run('{{x}}', { x: 'a'.repeat(900) })).not.toThrow();
    expect(run('{{x}}{{x}}', { x: 'a'.repeat(900) })).toThrow(TooLong);
  });

  it('ends nested sections that write nothing', () => {
    const list = Array.from({ length: 100 }, () => 1);
    expect(run('{{#l}}{{#l}}{{#l}}{{/l}}{{/l}}{{/l}}', { l: list })).toThrow(TooLong);
  });

  it('ends partials that multiply each other', () => {
    const twice = (name: string): string => `{{> ${name}}}`.repeat(8);
    expect(run('{{> a}}', {}, { a: twice('b'), b: twice('c'), c: twice('d'), d: twice('e'), e: '' })).toThrow(TooLong);
  });
});
