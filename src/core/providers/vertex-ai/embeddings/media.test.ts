import { describe, expect, test } from 'vitest';
import { bodyOf, encode, lostParams } from './encode.testkit.ts';

const MULTI = 'multimodalembedding@001';
const GEMINI = 'gemini-embedding-2';
const refused = (param: string) => expect.objectContaining({ name: 'RequestFault', param }) as Error;

describe('a request to multimodalembedding', () => {
  test.each<[unknown, object]>([
    ['a', { text: 'a' }],
    [{ text: 'a' }, { text: 'a' }],
    [{ image: { base64: 'iVBO' } }, { image: { bytesBase64Encoded: 'iVBO' } }],
    [
      { image: { base64: 'iVBO', mime_type: 'image/png' } },
      { image: { bytesBase64Encoded: 'iVBO', mimeType: 'image/png' } },
    ],
    [
      { image: { base64: 'data:image/png;base64,iVBO' } },
      { image: { bytesBase64Encoded: 'iVBO', mimeType: 'image/png' } },
    ],
    [
      { image: { url: 'data:image/jpeg;base64,/9j/' } },
      { image: { bytesBase64Encoded: '/9j/', mimeType: 'image/jpeg' } },
    ],
    [{ image: { url: 'gs://b/cat.PNG' } }, { image: { gcsUri: 'gs://b/cat.PNG', mimeType: 'image/png' } }],
    [{ image: 'gs://b/cat' }, { image: { gcsUri: 'gs://b/cat' } }],
    [
      { text: 't', video: { url: 'gs://b/v.mp4', start_offset: 0, end_offset: 10.5, interval: 5 } },
      {
        text: 't',
        video: {
          gcsUri: 'gs://b/v.mp4',
          videoSegmentConfig: { startOffsetSec: 0, endOffsetSec: 10.5, intervalSec: 5 },
        },
      },
    ],
    [{ video: { base64: 'AAAA' } }, { video: { bytesBase64Encoded: 'AAAA' } }],
  ])('encodes %j as %j', (input, instance) => {
    const encoded = encode(MULTI, { input, dimensions: 512 });
    expect(encoded.calls).toEqual([{ instances: [instance], parameters: { dimension: 512 } }]);
    expect(encoded.losses).toEqual([]);
  });

  test('makes one call for each input', () => {
    expect(encode(MULTI, { input: ['a', { image: 'gs://b/i.png' }] }).calls).toEqual([
      { instances: [{ text: 'a' }] },
      { instances: [{ image: { gcsUri: 'gs://b/i.png', mimeType: 'image/png' } }] },
    ]);
  });

  test.each<[unknown, string]>([
    [{ image: {} }, 'input.image'],
    [{ image: { url: 'gs://b/i', base64: 'AA' } }, 'input.image'],
    [{ image: 7 }, 'input.image'],
    [{ image: { url: 'ftp://x/i.png' } }, 'input.image.url'],
    [{ image: 'cat.png' }, 'input.image'],
    [[{ text: 'a' }, { image: { url: 'https://x/i.png' } }], 'input[1].image'],
    [{ audio: { url: 'gs://b/a.mp3' } }, 'input.audio'],
    [{ video: { url: 'gs://b/v.mp4', interval: -1 } }, 'input.video.interval'],
    [{ video: { url: 'gs://b/v.mp4', start_offset: '3' } }, 'input.video.start_offset'],
    [{ video: { url: 'gs://b/v.mp4', end_offset: Number('1e400') } }, 'input.video.end_offset'],
  ])('refuses %j for its %s', (input, param) => {
    expect(() => encode(MULTI, { input })).toThrow(refused(param));
  });

  test('reports fields that it cannot send', () => {
    const body = {
      input: { text: 'a', image: { url: 'gs://b/i.png', detail: 'low' }, id: 7 },
      task_type: 'CLUSTERING',
      title: 't',
      auto_truncate: true,
    };
    expect(lostParams(encode(MULTI, body)).toSorted()).toEqual(
      ['auto_truncate', 'input.id', 'input.image.detail', 'task_type', 'title'].toSorted(),
    );
  });

  test('returns the vectors of image and video beside that of the text', () => {
    const input = { text: 'a', image: 'gs://b/i.png', video: 'gs://b/v.mp4' };
    const reply = {
      predictions: [
        {
          textEmbedding: [1, 2],
          imageEmbedding: [3, 4],
          videoEmbeddings: [
            { startOffsetSec: 0, endOffsetSec: 5, embedding: [5, 6] },
            { startOffsetSec: 5, endOffsetSec: 8, embedding: [7, 8] },
          ],
        },
      ],
    };
    const video_embeddings = [
      { embedding: [5, 6], start_offset: 0, end_offset: 5, index: 0 },
      { embedding: [7, 8], start_offset: 5, end_offset: 8, index: 1 },
    ];
    expect(bodyOf(encode(MULTI, { input }).decode([reply]))['data']).toEqual([
      { object: 'embedding', index: 0, embedding: [1, 2], image_embedding: [3, 4], video_embeddings },
    ]);
    // The client's encoding applies to `embedding` only.
    expect(bodyOf(encode(MULTI, { input, encoding_format: 'base64' }).decode([reply]))['data']).toMatchObject([
      { embedding: 'AACAPwAAAEA=', image_embedding: [3, 4], video_embeddings },
    ]);
  });

  test('has a vector in `embedding` where there is no text', () => {
    const { decode } = encode(MULTI, { input: [{ image: 'gs://b/i.png' }, { video: 'gs://b/v.mp4' }] });
    const replies = [
      { predictions: [{ imageEmbedding: [3, 4] }] },
      { predictions: [{ videoEmbeddings: [{ startOffsetSec: 0, endOffsetSec: 5, embedding: [5, 6] }] }] },
    ];
    expect(bodyOf(decode(replies))['data']).toMatchObject([
      { index: 0, embedding: [3, 4], image_embedding: [3, 4] },
      { index: 1, embedding: [5, 6] },
    ]);
  });

  test.each([
    [{ text: 'a' }, { imageEmbedding: [1] }],
    [{ image: 'gs://b/i.png' }, { textEmbedding: [1] }],
    [{ text: 'a', image: 'gs://b/i.png' }, { textEmbedding: [1] }],
    [{ video: 'gs://b/v.mp4' }, { videoEmbeddings: [] }],
    [{ video: 'gs://b/v.mp4' }, { videoEmbeddings: [{ startOffsetSec: 0 }] }],
  ])('with the input %j refuses the reply %j', (input, answer) => {
    expect(() => encode(MULTI, { input }).decode([{ predictions: [answer] }])).toThrow(
      expect.objectContaining({ name: 'ReplyFault' }) as Error,
    );
  });
});

describe('a request to gemini-embedding-2', () => {
  test('has one content per call', () => {
    const encoded = encode(GEMINI, {
      input: ['a', 'b'],
      input_type: 'search_document',
      title: 't',
      dimensions: 768,
      auto_truncate: false,
      document_ocr: true,
    });
    const embedContentConfig = {
      taskType: 'RETRIEVAL_DOCUMENT',
      title: 't',
      autoTruncate: false,
      outputDimensionality: 768,
      documentOcr: true,
    };
    expect(encoded.calls).toEqual([
      { content: { parts: [{ text: 'a' }] }, embedContentConfig },
      { content: { parts: [{ text: 'b' }] }, embedContentConfig },
    ]);
    expect(encoded.losses).toEqual([]);
  });

  test('encodes media as parts', () => {
    const input = {
      text: 'a',
      image: { base64: 'iVBO', mime_type: 'image/png' },
      video: { url: 'gs://b/v.mp4', start_offset: 1.5, end_offset: 3, interval: 1 },
      audio: 'data:audio/wav;base64,UklG',
      document: { url: 'https://x.example/d.pdf?sig=a.b' },
    };
    const encoded = encode(GEMINI, { input });
    expect(encoded.calls).toEqual([
      {
        content: {
          parts: [
            { text: 'a' },
            { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
            {
              fileData: { mimeType: 'video/mp4', fileUri: 'gs://b/v.mp4' },
              videoMetadata: { startOffset: '1.5s', endOffset: '3s' },
            },
            { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
            { fileData: { mimeType: 'application/pdf', fileUri: 'https://x.example/d.pdf?sig=a.b' } },
          ],
        },
      },
    ]);
    expect(lostParams(encoded)).toEqual(['input.video.interval']);
  });

  test('requires the type of media whose address does not tell it', () => {
    expect(() => encode(GEMINI, { input: [{ image: { base64: 'iVBO' } }] })).toThrow(
      refused('input[0].image.mime_type'),
    );
  });

  test('reads vector, tokens and whether the text was cut', () => {
    const replies = [
      { embedding: { values: [1, 2] }, usageMetadata: { promptTokenCount: 4 }, truncated: true },
      { embedding: { values: [3, 4] }, usageMetadata: { promptTokenCount: 6 } },
    ];
    expect(encode(GEMINI, { input: ['a', 'b'] }, { strict: false }).decode(replies)).toMatchObject({
      body: {
        data: [
          { index: 0, embedding: [1, 2], truncated: true },
          { index: 1, embedding: [3, 4] },
        ],
        usage: { prompt_tokens: 10, total_tokens: 10 },
      },
      usage: { input: 10 },
    });
    for (const reply of [null, {}, { embedding: {} }, { embedding: { values: [] } }])
      expect(() => encode(GEMINI, { input: 'a' }).decode([reply])).toThrow(
        expect.objectContaining({ name: 'ReplyFault' }) as Error,
      );
  });
});
