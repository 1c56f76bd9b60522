import { describe, expect, it } from 'vitest';
import {
  audioFormat,
  audioMime,
  bareMime,
  mediaKind,
  mimeOfName,
  mimeOfUrl,
  parseDataUri,
  sniffAudioMime,
  toDataUri,
  sniffMedia,
} from './media-types.ts';
import * as fc from 'fast-check';

describe('MIME by URL', () => {
  it.each([
    ['https://example.com/a/photo.JPG', 'image/jpeg'],
    ['https://example.com/photo.png?sig=a.b.pdf', 'image/png'],
    ['https://example.com/photo.png#page=1.pdf', 'image/png'],
    ['gs://bucket/folder/film.mp4', 'video/mp4'],
    ['gs://bucket.with.dots/no-extension', undefined],
    ['https://example.com/a.aiff', 'audio/aiff'],
    ['https://example.com', undefined],
    ['https://example.pdf', undefined],
    ['https://files.example/v1beta/files/abc', undefined],
    ['https://example.com/archive.tar.xyz', undefined],
    ['https://example.com/dir.png/file', undefined],
    ['https://www.youtube.com/watch?v=abc', 'video/mp4'],
    ['https://youtu.be/abc', 'video/mp4'],
    ['https://notyoutube.com/watch?v=abc', undefined],
    ['https://example.com/constructor', undefined],
  ])('of %s is %s', (url, mime) => expect(mimeOfUrl(url)).toBe(mime));

  it('does not depend on query or fragment', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (query, fragment) => {
        expect(mimeOfUrl(`https://h.example/x.webp?${query.replaceAll('#', '')}#${fragment}`)).toBe('image/webp');
      }),
    );
  });
});

it('takes the last extension of a file name', () => {
  expect(mimeOfName('report.final.PDF')).toBe('application/pdf');
  expect(mimeOfName('README')).toBeUndefined();
  expect(mimeOfName('x.__proto__')).toBeUndefined();
});

describe('data URIs', () => {
  it.each([
    ['data:image/png;base64,QUJD', { mime: 'image/png', data: 'QUJD' }],
    ['DATA:Image/PNG;BASE64,QUJD', { mime: 'image/png', data: 'QUJD' }],
    ['data:text/plain;charset=utf-8;base64,QUJD', { mime: 'text/plain', data: 'QUJD' }],
    [
      'data:audio/pcm;Rate=16000; channels=1;base64,QUJD',
      { mime: 'audio/pcm', parameters: 'Rate=16000;channels=1', data: 'QUJD' },
    ],
    ['data:text/plain;charset=latin1;base64,QUJD', { mime: 'text/plain', parameters: 'charset=latin1', data: 'QUJD' }],
    ['data:text/plain,a%20b', { mime: 'text/plain', data: Buffer.from('a b').toString('base64') }],
    ['data:;base64,QUJD', { mime: undefined, data: 'QUJD' }],
    ['data:text/plain,%zz', undefined],
    ['data:image/png;base64', undefined],
    ['https://example.com/data:x', undefined],
    ['', undefined],
  ])('reads %s', (uri, parsed) => expect(parseDataUri(uri)).toEqual(parsed));

  it('reads no URI whose type has a thousand parameters', () => {
    expect(parseDataUri(`data:image/png${';a=b'.repeat(1000)};base64,AAAA`)).toBeUndefined();
  });

  it('are read back as they were written', () => {
    fc.assert(
      fc.property(fc.constantFrom('image/png', 'application/pdf', 'audio/wav'), fc.uint8Array(), (mime, bytes) => {
        const data = Buffer.from(bytes).toString('base64');
        expect(parseDataUri(toDataUri(mime, data))).toEqual({ mime, data });
      }),
    );
  });
});

it('names the kind of a MIME type', () => {
  const kinds = ['image/png', 'audio/wav', 'video/mp4', 'application/pdf', 'text/plain', 'nonsense'].map(mediaKind);
  expect(kinds).toEqual(['image', 'audio', 'video', 'document', 'document', 'document']);
});

it('maps audio formats both ways, without parameters', () => {
  for (const format of ['wav', 'mp3', 'flac', 'pcm16', 'aac', 'opus', 'aiff'])
    expect(audioFormat(audioMime(format) ?? '')).toBe(format);
  expect(audioFormat('audio/pcm;rate=24000')).toBe('pcm16');
  expect(audioMime('unheard-of')).toBeUndefined();
  expect(bareMime(' Audio/PCM ; rate=1')).toBe('audio/pcm');
});

it('detects the audio type by its first bytes', () => {
  const of = (text: string) => sniffAudioMime(Buffer.from(text, 'latin1').toString('base64'));
  expect([of('RIFF....'), of('ID3...'), of('\xff\xf3\x84'), of('fLaC..'), of('OggS..'), of('\x00\x01\x02')]).toEqual([
    'audio/wav',
    'audio/mp3',
    'audio/mp3',
    'audio/flac',
    'audio/ogg',
    'audio/pcm',
  ]);
});

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

it('knows every extension of the media that the gateway names in its documents', () => {
  const names = 'pdf txt html jpg png webm mp4 mp3 wav opus flac pcm aac m4a mpeg mpga aiff'.split(' ');
  expect(names.filter((name) => mimeOfName(`a.${name}`) === undefined)).toEqual([]);
});
