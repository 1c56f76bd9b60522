import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sniffMedia } from './magic.ts';

describe('the first bytes of a file', () => {
  it.each([
    ['ffd8ffe000104a46', 'image/jpeg'],
    ['89504e470d0a1a0a0000000d', 'image/png'],
    ['474946383761', 'image/gif'],
    ['474946383961', 'image/gif'],
    ['52494646aabbccdd57454250', 'image/webp'],
    ['255044462d312e37', 'application/pdf'],
    // A mail gateway's line before the header; readers search beyond the first byte.
    [Buffer.from('junk\n%PDF-1.4').toString('hex'), 'application/pdf'],
  ])('%s are those of %s', (hex, mime) => expect(sniffMedia(Buffer.from(hex, 'hex'))).toBe(mime));

  it.each([
    ['', 'of an empty file'],
    ['ffd8', 'of a cut JPEG'],
    ['52494646aabbccdd57415645', 'of a WAV'],
    ['00000000aabbccdd57454250', 'of something with WEBP in it'],
    [Buffer.from('<html>').toString('hex'), 'of a page'],
    [Buffer.from(`${' '.repeat(1024)}%PDF-1.4`).toString('hex'), 'of a text that quotes a PDF further down'],
  ])('%s %s are none of them', (hex) => expect(sniffMedia(Buffer.from(hex, 'hex'))).toBeUndefined());

  it('of any data are read without an error', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void sniffMedia(Buffer.from(bytes))));
  });
});
