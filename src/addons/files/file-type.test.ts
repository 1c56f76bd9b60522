import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkType, HEAD_BYTES } from './file-type.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d', 'hex');
const MP4 = Buffer.from('\0\0\0\u0020ftypisom');
const AIFF = Buffer.from('FORM\0\0\0\0AIFF');
const PDF = Buffer.from('%PDF-1.7\n');
const ZIP = Buffer.from('PK\u0003\u0004\0\0');

const typeOf = (head: Buffer, filename: string, declared = '') =>
  checkType(head, { filename, declared, purpose: 'user_data' });

describe('the type of a file', () => {
  it.each([
    [PNG, 'a.png', '', 'image/png'],
    [PNG, 'a', 'image/png', 'image/png'],
    [PNG, 'a', 'application/octet-stream', 'image/png'],
    [Buffer.from('ffd8ffe0', 'hex'), 'a', 'image/jpg', 'image/jpeg'],
    [MP4, 'a.mp4', 'video/mp4', 'video/mp4'],
    [MP4, 'a.m4a', 'audio/mp4', 'audio/m4a'],
    [AIFF, 'a.aiff', '', 'audio/aiff'],
    [Buffer.from([0, 1, 2]), 'a.pcm', '', 'audio/pcm'],
    [Buffer.from([0xff, 0xfb, 0x90]), 'a.mp3', 'audio/mpeg', 'audio/mp3'],
    [Buffer.from('BMW,1'), 'cars.csv', 'text/csv', 'text/csv'],
    [Buffer.from('{"a":1}\n'), 'batch.jsonl', '', 'application/jsonl'],
    [
      ZIP,
      'a.docx',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    [Buffer.from('\ufeffx', 'utf16le'), 'a.txt', '', 'text/plain'],
    [Buffer.from('???'), 'a', '', 'application/octet-stream'],
  ])('%# is that of its name, else the declared one, else that of its bytes', (head, filename, declared, mime) => {
    expect(typeOf(head, filename, declared)).toBe(mime);
  });

  it.each([
    [PNG, 'a.pdf', '', 'is named as application/pdf, but its first bytes are those of image/png'],
    [PDF, 'a.pdf', 'image/png', 'is declared as image/png, but its first bytes are those of application/pdf'],
    [PDF, 'a.txt', '', 'is named as text/plain, but its first bytes are those of a PDF'],
    [PNG, 'a.csv', '', 'is named as text/csv, but its first bytes are binary'],
    [MP4, 'a.mp3', '', 'is named as audio/mp3, but its first bytes are those of video/mp4'],
    [Buffer.from('<html>'), 'a.png', '', 'is named as image/png, but its first bytes are of another type'],
    [Buffer.from('x'), 'a', 'text/<script>', 'is declared with a type that is not a MIME type'],
  ])('%# is refused where its bytes say otherwise', (head, filename, declared, words) => {
    expect(() => typeOf(head, filename, declared)).toThrow(words);
  });

  it('of any bytes and names is a MIME type or a refusal that names the file', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: HEAD_BYTES }), fc.string(), fc.string(), (bytes, filename, declared) => {
        try {
          expect(typeOf(Buffer.from(bytes), filename, declared)).toMatch(/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_value', param: 'file' });
        }
      }),
    );
  });
});
