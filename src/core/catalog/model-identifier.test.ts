import { describe, expect, test } from 'vitest';
import { parseModelIdentifier } from './model-identifier.ts';

describe('parseModelIdentifier', () => {
  test.each([
    ['gemini-2.5-pro', undefined, 'gemini-2.5-pro'],
    ['@vertex/gemini-2.5-pro', 'vertex', 'gemini-2.5-pro'],
    ['@vertex/anthropic.claude-sonnet-4-5@20250929', 'vertex', 'anthropic.claude-sonnet-4-5@20250929'],
    ['claude-sonnet-4-5@20250929', undefined, 'claude-sonnet-4-5@20250929'],
    ['@my.slug_1-x/m', 'my.slug_1-x', 'm'],
    ['@vertex/a/b', 'vertex', 'a/b'],
    ['@vertex/../x', 'vertex', '../x'],
    ['a/b', undefined, 'a/b'],
    ['', undefined, ''],
  ])('%j is slug %j, model %j', (text, slug, model) => {
    expect(parseModelIdentifier(text)).toEqual({ slug, model });
  });

  test.each(['@', '@vertex', '@vertex/', '@/gemini', '@/'])('%j is a 400', (text) => {
    expect(() => parseModelIdentifier(text)).toThrowError(
      expect.objectContaining({ code: 'invalid_model', status: 400, param: 'model' }),
    );
  });
});
