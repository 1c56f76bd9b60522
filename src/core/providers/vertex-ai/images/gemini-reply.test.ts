import { describe, expect, it } from 'vitest';
import { decodeGeminiImages } from './gemini.ts';
import { CONTEXT } from './images.testkit.ts';

const textsOf = (text: string): unknown => {
  const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const reply = { candidates: [{ content: { parts: [{ text }, image, image] }, finishReason: 'STOP' }] };
  const drawn = decodeGeminiImages([reply], { ...CONTEXT, strict: false });
  return drawn.ok && (drawn.body['data'] as { text?: string }[]).map((item) => item.text);
};

describe('The text of a Gemini image model beside its images', () => {
  it('is added to each of them', () => {
    expect(textsOf('two cats')).toEqual(['two cats', 'two cats']);
  });

  it('is added to the first one only where it is long', () => {
    const long = 'a'.repeat(600);
    expect(textsOf(long)).toEqual([long, undefined]);
  });
});
