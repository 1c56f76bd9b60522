import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../plugin/index.ts';
import { HOSTILE_NAMES } from './hostile-names.testkit.ts';
import { checkModelName, modelSegment } from './model-name.ts';

describe('checkModelName', () => {
  test.each(HOSTILE_NAMES.map((name) => [name]))('refuses %j with a 400', (name) => {
    expect(() => checkModelName(name)).toThrowError(
      expect.objectContaining({ code: 'invalid_model', status: 400, param: 'model' }),
    );
  });

  test.each(['gemini-2.5-pro', 'claude-sonnet-4-5@20250929', 'a;b', 'a b', 'a%2fb', 'a:b', 'modèle', 'x'.repeat(256)])(
    'accepts %j',
    (name) => {
      expect(() => checkModelName(name)).not.toThrow();
    },
  );

  test('quotes at most a hundred characters of a name', () => {
    expect(() => checkModelName(`${'x'.repeat(5_000)}/`)).toThrowError(
      expect.objectContaining({ message: expect.not.stringContaining('x'.repeat(101)) }),
    );
  });
});

describe('modelSegment', () => {
  test.each([
    ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5@20250929'],
    ['a;b', 'a%3Bb'],
    ['a%2fb', 'a%252fb'],
    ['a:generateContent', 'a%3AgenerateContent'],
    ['a b', 'a%20b'],
  ])('writes %j as %j', (name, segment) => {
    expect(modelSegment(name)).toBe(segment);
  });

  test('keeps every valid name one path segment that decodes to the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
        try {
          checkModelName(name);
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          return;
        }
        const segment = modelSegment(name);
        const url = new URL(`https://host.example/models/${segment}:generateContent?alt=sse`);
        expect(url.pathname).toBe(`/models/${segment}:generateContent`);
        expect(url.search).toBe('?alt=sse');
        expect(decodeURIComponent(segment)).toBe(name);
      }),
    );
  });
});
