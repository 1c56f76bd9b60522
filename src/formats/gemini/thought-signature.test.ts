import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitCallId, toBase64 } from './thought-signature.ts';

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
