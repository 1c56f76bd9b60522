import { describe, expect, it } from 'vitest';
import { readMedia } from './media-content.ts';

const TYPES = new Set(['image/jpeg', 'image/png', 'application/pdf', 'text/plain']);
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const JPEG = Buffer.from('ffd8ffe0', 'hex');
const GIF = Buffer.from('GIF89a');
const PDF = Buffer.from('%PDF-1.7');

const read = (contentType: string | undefined, body: Buffer, more: Record<string, string> = {}) =>
  readMedia(
    { status: 200, headers: { ...(contentType !== undefined && { 'content-type': contentType }), ...more }, body },
    TYPES,
  );

describe('downloaded media', () => {
  it.each([
    ['image/png', PNG, 'image/png'],
    ['Image/PNG; foo=bar', PNG, 'image/png'],
    ['image/jpg', JPEG, 'image/jpeg'],
    ['application/pdf', PDF, 'application/pdf'],
    // The types that object stores report for uploads without a type.
    ['application/octet-stream', PNG, 'image/png'],
    ['binary/octet-stream', PDF, 'application/pdf'],
    [undefined, JPEG, 'image/jpeg'],
  ])('as %s is used when its bytes agree', (contentType, body, mime) => {
    expect(read(contentType, body)).toEqual({ mime, data: body });
  });

  it.each([
    ['text/plain', Buffer.from('Grüße'), 'Grüße'],
    ['text/plain; charset=UTF-8', Buffer.from('\u{feff}Grüße'), 'Grüße'],
    ['text/plain; charset="iso-8859-1"', Buffer.from('Grüße', 'latin1'), 'Grüße'],
    ['text/plain;charset=utf-16le', Buffer.from('Grüße', 'utf16le'), 'Grüße'],
    ['text/plain', Buffer.alloc(0), ''],
  ])('as %s is text in UTF-8', (contentType, body, text) => {
    expect(read(contentType, body)).toEqual({ mime: 'text/plain', data: Buffer.from(text) });
  });

  it.each([
    ['image/png', JPEG, 'is declared as image/png but is image/jpeg'],
    ['image/png', Buffer.from('<html>'), 'is declared as image/png but is of another type'],
    ['text/plain', PDF, 'is declared as text/plain but is application/pdf'],
    ['text/plain', Buffer.from([0xff]), 'is declared as text/plain but cannot be decoded'],
    ['text/plain; charset=klingon', Buffer.from('x'), 'is declared as text/plain but cannot be decoded'],
    ['text/plain', Buffer.from('a\0b'), 'is declared as text/plain but is binary'],
    [
      'text/html',
      Buffer.from('<html>'),
      'is text/html; the target reads image/jpeg, image/png, application/pdf, text/plain',
    ],
    ['image/gif', GIF, 'is image/gif; the target reads image/jpeg, image/png, application/pdf, text/plain'],
    ['<script>', GIF, 'is of another type; the target reads image/jpeg, image/png, application/pdf, text/plain'],
    ['application/octet-stream', GIF, 'has no media type'],
    [undefined, Buffer.from('text?'), 'has no media type'],
  ])('as %s is refused where it is not that, or not for the target', (contentType, body, why) => {
    expect(read(contentType, body)).toBe(why);
  });

  it('with a content coding are refused: none was requested, and the decoded size is unbounded', () => {
    expect(read('image/png', PNG, { 'content-encoding': 'gzip' })).toBe('has a content-encoding');
    expect(read('image/png', PNG, { 'content-encoding': 'identity' })).toEqual({ mime: 'image/png', data: PNG });
  });
});
