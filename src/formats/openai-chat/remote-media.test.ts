import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, MediaPart } from '../conversation.ts';
import { replaceAt } from '../media/remote-media.ts';
import { decodeRequest } from './decode-request.ts';
import { remoteMedia, storedMedia } from './remote-media.ts';

const PNG = { mime: 'image/png', data: Buffer.from('PNG') };
const PDF = { mime: 'application/pdf', data: Buffer.from('PDF') };
const PNG_URI = 'data:image/png;base64,UE5H';
const PDF_URI = 'data:application/pdf;base64,UERG';

const body = (part: unknown, role = 'user'): JsonObject => ({ model: 'm', messages: [{ role, content: [part] }] });

describe('media URLs in a chat request', () => {
  it.each([
    [
      'an image',
      { type: 'image_url', image_url: { url: 'https://h.example/a.png?x=1', detail: 'low' } },
      { media: 'image', mime: 'image/png' },
      PNG,
      { type: 'image_url', image_url: { url: PNG_URI, detail: 'low' } },
    ],
    [
      'an image written as a bare string',
      { type: 'image_url', image_url: 'https://h.example/a' },
      { media: 'image', mime: undefined },
      PNG,
      { type: 'image_url', image_url: { url: PNG_URI } },
    ],
    [
      'a PDF in an image, whose type the caller had wrong',
      { type: 'image_url', image_url: { url: 'https://h.example/a', mime_type: 'image/jpeg' }, cache_control: {} },
      { media: 'image', mime: 'image/jpeg' },
      PDF,
      { type: 'image_url', image_url: { url: PDF_URI }, cache_control: {} },
    ],
    [
      'a file by URL',
      { type: 'file', file: { file_url: 'https://h.example/get', filename: 'report.pdf' } },
      { media: 'document', mime: 'application/pdf' },
      PDF,
      { type: 'file', file: { filename: 'report.pdf', file_data: PDF_URI } },
    ],
    [
      'a file whose id is an address',
      { type: 'file', file: { file_id: 'https://h.example/a.pdf', format: 'pdf' } },
      { media: 'document', mime: 'application/pdf' },
      PDF,
      { type: 'file', file: { file_data: PDF_URI } },
    ],
    [
      'a film, as far as the address says',
      { type: 'image_url', image_url: { url: 'https://h.example/a.mp4' } },
      { media: 'video', mime: 'video/mp4' },
      PNG,
      { type: 'image_url', image_url: { url: PNG_URI } },
    ],
  ])('%s is found and replaced', (_, part, found, content, embedded) => {
    const request = body(part);
    const [one, ...others] = remoteMedia(request);
    expect(others).toEqual([]);
    expect(one).toMatchObject({ param: 'messages[0].content[0]', ...found });
    expect(replaceAt(request, one!.path, one!.embed(content))).toEqual(body(embedded));
  });

  it.each([
    ['data', { type: 'image_url', image_url: { url: PNG_URI } }],
    ['a file with data beside its id', { type: 'file', file: { file_data: 'AA', file_id: 'https://h.example/a.pdf' } }],
    ['the id of a file', { type: 'file', file: { file_id: 'file-123' } }],
    ['an address in a text', { type: 'text', text: 'https://h.example/a.png' }],
    ['a part that is none', 'https://h.example/a.png'],
    ['an image without an address', { type: 'image_url', image_url: null }],
  ])('%s is not media by URL', (_, part) => expect(remoteMedia(body(part))).toEqual([]));

  it('are found in user and tool messages, as the target gets them', () => {
    const part = { type: 'image_url', image_url: { url: 'https://h.example/a.png' } };
    const roles = ['system', 'developer', 'user', 'assistant', 'tool'];
    const messages = roles.map((role) => ({ role, content: [{ type: 'text', text: 'x' }, part] }));
    expect(remoteMedia({ messages }).map(({ param }) => param)).toEqual([
      'messages[2].content[1]',
      'messages[4].content[1]',
    ]);
  });

  it('are those that the decoder reads as URLs, part for part', () => {
    const url = fc.constantFrom('https://h.example/a.png', 'gs://b/a.pdf', PNG_URI, 'HTTPS://h.example/x');
    const part = fc.oneof(
      fc
        .record({ type: fc.constantFrom('image_url', 'video_url', 'audio_url'), url })
        .map(({ type, url: to }) => ({ type, [type]: { url: to } })),
      url.map((to) => ({ type: 'file', file: { file_url: to } })),
      fc.constant({ type: 'text', text: 'x' }),
    );
    fc.assert(
      fc.property(fc.array(part), (content) => {
        const request = { model: 'm', messages: [{ role: 'user', content }] };
        const decoded = decodeRequest(request).turns[0]?.parts ?? [];
        const expected = decoded.filter((one): one is MediaPart => one.type === 'media' && one.source.kind === 'url');
        expect(remoteMedia(request).map(({ url: to, media, mime }) => ({ url: to, media, mime }))).toEqual(
          expected.map(({ source, media, mime }) => ({ url: source.kind === 'url' ? source.url : '', media, mime })),
        );
      }),
    );
  });

  it('are none in an arbitrary body', () => {
    fc.assert(fc.property(fc.jsonValue(), (messages) => void remoteMedia({ messages })));
  });
});

describe('parts of a chat request that name stored files', () => {
  const isStored = (text: string): boolean => text.startsWith('file-gh');
  it.each([
    [
      { type: 'file', file: { file_id: 'file-gh1' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: PDF_URI } },
      { type: 'file', file: { file_url: 'gs://b/a.pdf', mime_type: 'application/pdf' } },
    ],
    [
      { type: 'file', file: { file_id: 'file-gh1', filename: 'own.pdf', format: 'pdf' } },
      { type: 'file', file: { filename: 'own.pdf', file_data: PDF_URI } },
      { type: 'file', file: { filename: 'own.pdf', file_url: 'gs://b/a.pdf', mime_type: 'application/pdf' } },
    ],
    [
      { type: 'image_url', image_url: { url: 'file-gh1', detail: 'low' } },
      { type: 'image_url', image_url: { detail: 'low', url: PDF_URI } },
      { type: 'image_url', image_url: { detail: 'low', url: 'gs://b/a.pdf', mime_type: 'application/pdf' } },
    ],
  ])('%j are found, and hold its bytes or its address', (part, embedded, linked) => {
    const request = body(part);
    const [one] = storedMedia(request, isStored);
    expect(one).toMatchObject({ param: 'messages[0].content[0]', url: 'file-gh1' });
    expect(replaceAt(request, one!.path, one!.embed({ ...PDF, name: 'a.pdf' }))).toEqual(body(embedded));
    expect(replaceAt(request, one!.path, one!.link('gs://b/a.pdf', 'application/pdf'))).toEqual(body(linked));
  });

  it.each([
    { type: 'file', file: { file_id: 'file-vendors' } },
    { type: 'file', file: { file_id: 7 } },
    { type: 'file', file: { file_id: 'file-gh1', file_data: 'AA' } },
    { type: 'text', text: 'file-gh1' },
  ])('%j are none', (part) => expect(storedMedia(body(part), isStored)).toEqual([]));

  it('throw nothing for a body of any shape', () => {
    fc.assert(fc.property(fc.jsonValue(), (messages) => void storedMedia({ messages }, () => true)));
  });
});
