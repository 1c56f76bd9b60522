import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replaceAt } from '../media/remote-media.ts';
import { mediaByUrl, remoteMedia, storedMedia } from './remote-media.ts';

const PNG = { mime: 'image/png', data: Buffer.from('PNG') };
const PDF = { mime: 'application/pdf', data: Buffer.from('PDF') };
const TEXT = { mime: 'text/plain', data: Buffer.from('Grüße') };

const url = (name: string) => ({ type: 'url', url: `https://h.example/${name}` });
const base64 = (media_type: string, data: string) => ({ type: 'base64', media_type, data });
const body = (content: unknown) => ({
  model: 'm',
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'user', content },
  ],
});

describe('media by URL in a Messages request', () => {
  it.each([
    [
      'an image',
      [{ type: 'image', source: url('a.png'), cache_control: { type: 'ephemeral' } }],
      'messages[1].content[0]',
      PNG,
      [{ type: 'image', source: base64('image/png', 'UE5H'), cache_control: { type: 'ephemeral' } }],
    ],
    [
      'a document',
      [
        { type: 'text', text: 'x' },
        { type: 'document', source: url('a'), title: 'T' },
      ],
      'messages[1].content[1]',
      PDF,
      [
        { type: 'text', text: 'x' },
        { type: 'document', source: base64('application/pdf', 'UERG'), title: 'T' },
      ],
    ],
    [
      'a document that is text',
      [{ type: 'document', source: url('a.txt') }],
      'messages[1].content[0]',
      TEXT,
      [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } }],
    ],
    [
      'an image in a result',
      [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: url('a') }] }],
      'messages[1].content[0].content[0]',
      PNG,
      [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: base64('image/png', 'UE5H') }] }],
    ],
    [
      'an image in a document',
      [{ type: 'document', source: { type: 'content', content: [{ type: 'image', source: url('a') }] } }],
      'messages[1].content[0].source.content[0]',
      PNG,
      [
        {
          type: 'document',
          source: { type: 'content', content: [{ type: 'image', source: base64('image/png', 'UE5H') }] },
        },
      ],
    ],
  ])('%s is found and replaced', (_, content, param, fetched, embedded) => {
    const request = body(content);
    const [one, ...others] = remoteMedia(request);
    expect(others).toEqual([]);
    expect(one).toMatchObject({ param });
    expect(replaceAt(request, one!.path, one!.embed(fetched))).toEqual(body(embedded));
  });

  it('are embedded in no block of another kind', () => {
    const [image, document] = remoteMedia(
      body([
        { type: 'image', source: url('a') },
        { type: 'document', source: url('b') },
      ]),
    );
    expect([image!.embed(PDF), image!.embed(TEXT), document!.embed(PNG)]).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['data', [{ type: 'image', source: base64('image/png', 'AA') }]],
    ['a file', [{ type: 'document', source: { type: 'file', file_id: 'https://h.example/x' } }]],
    [
      'a document that a server tool fetched',
      [{ type: 'web_fetch_tool_result', content: { type: 'document', source: url('a') } }],
    ],
    ['a schema of a tool that has a `url`', 'hi'],
    ['a source that is not an object', [{ type: 'image', source: 'https://h.example/a' }, null, 'x']],
  ])('%s is no media by URL', (_, content) => expect(remoteMedia(body(content))).toEqual([]));

  it('throw nothing for a body of any shape', () => {
    fc.assert(fc.property(fc.jsonValue(), (messages) => void remoteMedia({ messages })));
  });
});

describe('media that Claude fetches itself', () => {
  const image = { media: 'image', mime: undefined, url: 'https://h.example/a' } as const;
  const pdf = { media: 'document', mime: 'application/pdf', url: 'https://h.example/a' } as const;
  const text = { media: 'document', mime: 'text/plain', url: 'https://h.example/a' } as const;
  it.each([
    ['an image of its own format at the direct API', image, { host: 'direct', native: true }, true],
    ['an image of another format', image, { host: 'direct', native: false }, false],
    ['a PDF at the direct API', pdf, { host: 'direct', native: false }, true],
    ['a document of no known type', { ...pdf, mime: undefined }, { host: 'direct', native: false }, true],
    ['a text', text, { host: 'direct', native: false }, false],
    ['a PDF that is not on the web', { ...pdf, url: 'gs://b/a.pdf' }, { host: 'direct', native: true }, false],
    ['an image on Vertex', image, { host: 'vertex', native: true }, false],
    ['an image of another format, passed', image, { host: 'direct', native: false, pass: true }, true],
    ['an image on Vertex, passed', image, { host: 'vertex', native: false, pass: true }, false],
    ['a PDF on Vertex', pdf, { host: 'vertex', native: true }, false],
  ])('%s: %o at %o is %s', (_, media, place, fetches) => expect(mediaByUrl.fetches(media, place)).toBe(fetches));
});

describe('blocks that name stored files', () => {
  const isStored = (text: string): boolean => text.includes('file-gh');
  const file = (file_id: unknown) => ({ type: 'file', file_id });
  it.each([
    ['by id', { type: 'document', source: file('file-gh1') }, 'file-gh1'],
    ['by address', { type: 'document', source: url('file-gh1') }, 'https://h.example/file-gh1'],
  ])('%s are found, and hold its bytes or its address', (_, block, named) => {
    const request = body([block]);
    const [one] = storedMedia(request, isStored);
    expect(one).toMatchObject({ param: 'messages[1].content[0]', url: named });
    expect(one!.embed(PDF)).toEqual(base64('application/pdf', 'UERG'));
    expect(one!.link('gs://b/a.pdf', 'application/pdf')).toEqual({ type: 'url', url: 'gs://b/a.pdf' });
  });

  it.each([
    { type: 'document', source: file('file_vendors') },
    { type: 'document', source: file(7) },
    { type: 'container_upload', file_id: 'file-gh1' },
  ])('%j are none', (block) => expect(storedMedia(body([block]), isStored)).toEqual([]));

  it('throw nothing for a body of any shape', () => {
    fc.assert(fc.property(fc.jsonValue(), (messages) => void storedMedia({ messages }, () => true)));
  });
});
