import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../formats/conversation.ts';
import { ReplyFault } from '../../../../formats/faults.ts';
import { CONTEXT, encode, faultOf, lossesOf } from './images.testkit.ts';

const SECOND = 'gemini-2.5-flash-image';
const THIRD = 'gemini-3-pro-image-preview';
const contents = [{ role: 'user', parts: [{ text: 'a cat' }] }];

describe('a request to a Gemini image model', () => {
  it.each([
    ['gemini-2.0-flash-preview-image-generation', ['TEXT', 'IMAGE']],
    [SECOND, ['TEXT', 'IMAGE']],
    [THIRD, ['IMAGE']],
    ['gemini-3.1-flash-image', ['IMAGE']],
  ])('of %s requests %j', (model, responseModalities) => {
    const { calls, losses } = encode(model, {});
    expect(calls).toEqual([{ contents, generationConfig: { responseModalities } }]);
    expect(losses).toEqual([]);
  });

  it.each<[string, JsonObject, JsonObject, string[]]>([
    ['a size', { size: '1024x1536' }, { imageConfig: { aspectRatio: '2:3' } }, ['downgraded size']],
    ['a large size', { size: '2048x2048' }, { imageConfig: { aspectRatio: '1:1', imageSize: '2K' } }, []],
    [
      'a shape and a resolution',
      { aspect_ratio: '21:9', image_size: '4K' },
      { imageConfig: { aspectRatio: '21:9', imageSize: '4K' } },
      [],
    ],
    [
      'Google’s own object, which wins',
      { size: '1024x1024', image_config: { aspect_ratio: '4:5', image_size: '1K' } },
      { imageConfig: { aspectRatio: '4:5', imageSize: '1K' } },
      [],
    ],
    [
      'an output format',
      { output_format: 'jpeg', output_compression: 80 },
      { imageConfig: { imageOutputOptions: { mimeType: 'image/jpeg', compressionQuality: 80 } } },
      [],
    ],
    [
      'Imagen’s word for whom to draw',
      { personGeneration: 'dont_allow' },
      { imageConfig: { personGeneration: 'ALLOW_NONE' } },
      [],
    ],
    ['Gemini’s own', { personGeneration: 'ALLOW_ALL' }, { imageConfig: { personGeneration: 'ALLOW_ALL' } }, []],
    ['a seed', { seed: 5 }, { seed: 5 }, []],
    [
      'what it has no word for',
      { quality: 'hd', style: 'vivid', background: 'opaque', negativePrompt: 'x', storage_uri: 'gs://b', user: 'u' },
      {},
      [
        'dropped quality',
        'dropped background',
        'dropped user',
        'dropped style',
        'dropped negativePrompt',
        'dropped storage_uri',
      ],
    ],
  ])('with %s', (_, body, config, losses) => {
    const encoded = encode(THIRD, body);
    expect(encoded.calls).toEqual([{ contents, generationConfig: { ...config, responseModalities: ['IMAGE'] } }]);
    expect(lossesOf(encoded)).toEqual(losses);
  });

  it('makes one call for each image, a few at a time, each with its own seed', () => {
    const { calls, parallel } = encode(SECOND, { n: 6, seed: 40 });
    expect(calls.map((call) => (call['generationConfig'] as JsonObject)['seed'])).toEqual([40, 41, 42, 43, 44, 45]);
    expect(parallel).toBe(4);
  });

  it('has no seed beyond the maximum', () => {
    const { calls } = encode(SECOND, { n: 3, seed: 2_147_483_646 });
    expect(calls.map((call) => (call['generationConfig'] as JsonObject)['seed'])).toEqual([
      2_147_483_646, 2_147_483_647, 2_147_483_644,
    ]);
  });

  it('reports the losses of its calls once', () => {
    expect(lossesOf(encode(SECOND, { n: 3, user: 'u' }))).toEqual(['dropped user']);
  });

  it('contains safety settings and labels', () => {
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
    const body = { safety_settings: safetySettings, labels: { team: 'a' } };
    expect(encode(SECOND, body, { labels: { user: 'B' } }).calls[0]).toMatchObject({
      safetySettings,
      labels: { team: 'a', user: 'b' },
    });
  });

  it.each<[JsonObject, string]>([
    [{ n: 0 }, 'n'],
    [{ n: 11 }, 'n'],
    [{ response_format: 'url' }, 'response_format'],
    [{ size: 'huge' }, 'size'],
    [{ labels: { team: 1 } }, 'labels.team'],
  ])('is refused for %j', (body, param) => {
    expect(faultOf(() => encode(SECOND, body))).toMatchObject({ code: 'invalid_value', param });
  });
});

const image = (data: string) => ({ inlineData: { mimeType: 'image/png', data } });
const USAGE = {
  promptTokenCount: 10,
  candidatesTokenCount: 1290,
  totalTokenCount: 1300,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
};
const drawn = (...parts: object[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  usageMetadata: USAGE,
  modelVersion: 'gemini-2.5-flash-image',
});
const stopped = (finishReason: string, more: object = {}) => ({
  candidates: [{ finishReason, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
});
const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 10 } };

const decode = (replies: readonly unknown[], strict = true) =>
  encode(SECOND, { n: replies.length }, { strict }).decode(replies);

describe('replies of a Gemini image model', () => {
  it('become one reply with the tokens of all', () => {
    expect(decode([drawn(image('AAAA')), drawn({ text: 'Here it is.' }, image('BBBB'))])).toEqual({
      ok: true,
      model: 'gemini-2.5-flash-image',
      usage: { input: 20, output: 2580, total: 2600, outputImage: 2580, images: 2 },
      body: {
        created: CONTEXT.created,
        data: [{ b64_json: 'AAAA' }, { b64_json: 'BBBB' }],
        output_format: 'png',
        usage: {
          input_tokens: 20,
          output_tokens: 2580,
          total_tokens: 2600,
          input_tokens_details: { text_tokens: 20, image_tokens: 0 },
          output_tokens_details: { text_tokens: 0, image_tokens: 2580 },
        },
      },
    });
  });

  it('contain the model’s text for clients that are not strict', () => {
    expect(decode([drawn({ text: 'Here it is.' }, image('A'))], false)).toMatchObject({
      body: { data: [{ b64_json: 'A', text: 'Here it is.' }] },
    });
  });

  it('do not contain drafts, which are thoughts', () => {
    expect(decode([drawn({ ...image('DRAFT'), thought: true }, image('A'))])).toMatchObject({
      body: { data: [{ b64_json: 'A' }] },
    });
  });

  it('have no usage where the upstream has none, and no breakdown where it has none', () => {
    const uncounted = decode([{ ...drawn(image('A')), usageMetadata: undefined }]);
    expect(uncounted).toHaveProperty('usage', { input: 0, output: 0, total: 0, images: 1 });
    expect(uncounted).not.toHaveProperty('body.usage');
    const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 6, totalTokenCount: 10 };
    expect(decode([{ ...drawn(image('A')), usageMetadata }])).toHaveProperty('body.usage', {
      input_tokens: 4,
      output_tokens: 6,
      total_tokens: 10,
      input_tokens_details: { text_tokens: 4, image_tokens: 0 },
    });
  });

  it.each<[string, unknown, string, string]>([
    ['a blocked prompt', blocked, 'PROHIBITED_CONTENT', 'PROHIBITED_CONTENT.'],
    [
      'an unsafe image',
      stopped('IMAGE_SAFETY', { finishMessage: 'Unable to show it.' }),
      'IMAGE_SAFETY',
      'IMAGE_SAFETY: Unable to show it.',
    ],
    ['an unsafe answer', stopped('SAFETY'), 'SAFETY', 'SAFETY.'],
    [
      'a prohibited image',
      stopped('IMAGE_PROHIBITED_CONTENT'),
      'IMAGE_PROHIBITED_CONTENT',
      'IMAGE_PROHIBITED_CONTENT.',
    ],
    ['a recited image', stopped('IMAGE_RECITATION'), 'IMAGE_RECITATION', 'IMAGE_RECITATION.'],
    ['no image', stopped('NO_IMAGE'), 'NO_IMAGE', 'NO_IMAGE.'],
    ['another reason', stopped('IMAGE_OTHER'), 'IMAGE_OTHER', 'IMAGE_OTHER.'],
  ])('that are %s are an error with the reason and OpenAI’s code', (_, reply, kind, message) => {
    const result = decode([reply]);
    expect(result).toMatchObject({ ok: false, failure: { status: 400, code: 'content_policy_violation', kind } });
    expect(!result.ok && result.failure.message.endsWith(` ${message}`)).toBe(true);
  });

  it('name every reason once where all were blocked', () => {
    const result = decode([blocked, stopped('IMAGE_SAFETY'), stopped('IMAGE_SAFETY')]);
    expect(!result.ok && result.failure.message).toBe(
      'No image: the safety filter of the upstream stopped the request. PROHIBITED_CONTENT. IMAGE_SAFETY.',
    );
  });

  it('return the rest where some were blocked, and their number for clients that are not strict', () => {
    const replies = [stopped('IMAGE_SAFETY'), drawn(image('A')), blocked];
    const strict = decode(replies);
    expect(strict).toMatchObject({ ok: true, body: { data: [{ b64_json: 'A' }] }, usage: { input: 30 } });
    expect(strict).not.toHaveProperty('body.filtered');
    expect(decode(replies, false)).toMatchObject({
      body: { filtered: { count: 2, reasons: ['IMAGE_SAFETY.', 'PROHIBITED_CONTENT.'] } },
    });
  });

  it.each<[string, unknown, string]>([
    ['talk', drawn({ text: 'What kind of cat?' }), 'The model answered without an image (STOP): What kind of cat?'],
    ['nothing', { candidates: [] }, 'The model answered without an image (no finish reason)'],
    ['cut off', stopped('MAX_TOKENS'), 'The model answered without an image (MAX_TOKENS)'],
  ])('that are %s are a failure of the upstream, which a retry may cure', (_, reply, message) => {
    expect(decode([reply])).toMatchObject({ ok: false, failure: { status: 502, message } });
  });

  it('that are an error with status 200 are that error', () => {
    const error = { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } };
    expect(decode([error])).toMatchObject({
      ok: false,
      failure: { status: 503, kind: 'UNAVAILABLE', message: 'busy' },
    });
  });

  it.each([[null], [{}], ['text']])('that are %j are a fault', (reply) => {
    expect(faultOf(() => decode([reply]))).toBeInstanceOf(ReplyFault);
  });
});
