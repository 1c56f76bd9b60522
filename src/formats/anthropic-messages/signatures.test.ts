import { describe, expect, it } from 'vitest';
import { hasCorpus, recorded } from './corpus.testkit.ts';
import { isFromGoogle } from './signatures.ts';

describe('isFromGoogle', () => {
  it.each(['', 'c2ln', 'AQ==', 'skip_thought_signature_validator', '\u0000 not base64'.repeat(9)])(
    'treats %j as Claude’s, for want of a sign of Google',
    (signature) => {
      expect(isFromGoogle(signature)).toBe(false);
    },
  );

  it('always terminates on bytes that are all wrappers or all lengths', () => {
    for (const byte of [0x0a, 0x12, 0xff]) expect(isFromGoogle(Buffer.alloc(90, byte).toString('base64'))).toBe(false);
  });
});

describe.skipIf(!hasCorpus)('recorded signatures', () => {
  const signaturesOf = (...families: string[]): string[] =>
    recorded(...families).flatMap(({ response_body: body }) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return [...text.matchAll(/"(?:signature|thoughtSignature)":\s*"([^"]{64,})"/g)].map((match) => match[1]!);
    });

  it('of Claude are all distinguished from those of Google', () => {
    const claude = signaturesOf('anthropic', 'vertex-anthropic');
    const google = signaturesOf('gemini', 'vertex-gemini');
    expect(claude.filter(isFromGoogle)).toEqual([]);
    expect(google.filter((signature) => !isFromGoogle(signature))).toEqual([]);
    expect(claude.length).toBeGreaterThan(30);
    expect(google.length).toBeGreaterThan(100);
  });
});
