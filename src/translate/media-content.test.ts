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

describe('what was fetched', () => {
  it.each([
    ['image/png', PNG, 'image/png'],
    ['Image/PNG; foo=bar', PNG, 'image/png'],
    ['image/jpg', JPEG, 'image/jpeg'],
    ['application/pdf', PDF, 'application/pdf'],
    // What object stores say when nobody told them a type.
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
    ['image/png', JPEG, 'is said to be image/png and is image/jpeg'],
    ['image/png', Buffer.from('<html>'), 'is said to be image/png and is something else'],
    ['text/plain', PDF, 'is said to be text/plain and is application/pdf'],
    ['text/plain', Buffer.from([0xff]), 'is said to be text/plain, and is not readable as such'],
    ['text/plain; charset=klingon', Buffer.from('x'), 'is said to be text/plain, and is not readable as such'],
    ['text/plain', Buffer.from('a\0b'), 'is said to be text/plain and is something else'],
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

  it('in a content coding is refused: nobody asked for one, and what is inside could be of any size', () => {
    expect(read('image/png', PNG, { 'content-encoding': 'gzip' })).toBe('has a content-encoding');
    expect(read('image/png', PNG, { 'content-encoding': 'identity' })).toEqual({ mime: 'image/png', data: PNG });
  });
});
