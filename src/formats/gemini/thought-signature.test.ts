import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCorpus, recordings } from './recorded.testkit.ts';
import { isFromClaude, splitCallId, toBase64 } from './thought-signature.ts';

describe('a signature inside a call id', () => {
  it.each([
    ['call_1', { id: 'call_1' }],
    ['call_1__thought__', { id: 'call_1' }],
    ['call_1__thought__YS_-', { id: 'call_1', signature: 'YS/+' }],
    ['call_1__thought__YQ', { id: 'call_1', signature: 'YQ==' }],
    ['call_1__thought__YWI', { id: 'call_1', signature: 'YWI=' }],
    ['call_1__thought__YS__thought__', { id: 'call_1', signature: 'YS//thought//' }],
  ])('%s is split at the first separator', (id, split) => {
    expect(splitCallId(id)).toMatchObject(split);
  });

  it('is read as the original base64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        const standard = buffer.toString('base64');
        expect(splitCallId(`c__thought__${buffer.toString('base64url')}`)).toEqual({ id: 'c', signature: standard });
        expect(toBase64(standard)).toBe(standard);
      }),
    );
  });
});

describe('the provider of a signature', () => {
  const base64 = (...bytes: number[]) =>
    Buffer.from([...bytes, ...Array.from({ length: 40 }, () => 7)]).toString('base64');

  it.each([
    ['Claude’s, short lengths', base64(0x12, 0x7f, 0x0a, 0x46, 0x08, 0x01, 0x18), true],
    ['Claude’s, long lengths', base64(0x12, 0xa4, 0x01, 0x0a, 0x86, 0x01, 0x08, 0x0b, 0x18), true],
    ['Google’s, two messages', base64(0x12, 0xa4, 0x01, 0x0a, 0x46, 0x01, 0xbe, 0x3e), false],
    ['Google’s, one message', base64(0x0a, 0x46, 0x01, 0x4d, 0x32), false],
    ['anything else', 'c2ln', false],
    ['nothing', '', false],
  ])('%s', (_, signature, claude) => {
    expect(isFromClaude(signature)).toBe(claude);
  });

  it.skipIf(!hasCorpus)('no recorded signature of Google is taken for Claude’s', () => {
    const all = JSON.stringify(recordings()).matchAll(/\\*"thought_?[sS]ignature\\*":\s*\\*"([^"\\]+)/g);
    const signatures = [...all].map(([, signature]) => signature!);
    expect(signatures.length).toBeGreaterThan(300);
    expect(signatures.filter(isFromClaude)).toEqual([]);
  });
});
