import { describe, expect, it } from 'vitest';
import { RequestBody } from './request-body.ts';

const roughTokensOf = (content: unknown): number =>
  RequestBody.read(Buffer.from(JSON.stringify({ content })), 64).roughTokens;

const PICTURE = Buffer.alloc(100_000, 'gatehouse').toString('base64');

describe('the rough number of tokens of a body', () => {
  it.each<[string, unknown, number]>([
    ['is a quarter of the bytes of text', 'word '.repeat(8000), 10_004],
    ['counts a picture as one, whatever its bytes', PICTURE, 1604],
    ['counts a picture in a data URL as one', `data:image/png;base64,${PICTURE}`, 1604],
    ['counts each of several pictures', [PICTURE, PICTURE], 3205],
    ['takes long text without spaces for text', '汉'.repeat(20_000), 15_004],
    ['takes a short base64 text for text', 'QUJD'.repeat(100), 104],
  ])('%s', (_, content, tokens) => {
    expect(roughTokensOf(content)).toBe(tokens);
  });
});
