import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../formats/conversation.ts';
import { ReplyFault } from '../../../../formats/faults.ts';
import { CONTEXT, encode, faultOf, lossesOf } from './images.testkit.ts';

const IMAGEN = 'imagen-3.0-generate-002';
const parametersOf = (body: JsonObject, model = IMAGEN) => encode(model, body).calls[0]!['parameters'];
const BASE = { sampleCount: 1, includeRaiReason: true };

describe('a request to Imagen', () => {
  it('requests one image and the reason of every filtered image', () => {
    const { calls, losses } = encode(IMAGEN, {});
    expect(calls).toEqual([{ instances: [{ prompt: 'a cat' }], parameters: BASE }]);
    expect(losses).toEqual([]);
  });

  it.each<[string, JsonObject, JsonObject, string[]]>([
    ['several images', { n: 4 }, { sampleCount: 4 }, []],
    ['a size', { size: '1792x1024' }, { aspectRatio: '16:9' }, ['downgraded size']],
    ['a shape', { aspect_ratio: '3:4' }, { aspectRatio: '3:4' }, []],
    [
      'a shape that wins over a size',
      { aspectRatio: '3:4', size: '1024x1024' },
      { aspectRatio: '3:4' },
      ['dropped size'],
    ],
    ['a shape beside any size', { aspectRatio: '3:4', size: 'auto' }, { aspectRatio: '3:4' }, []],
    ['PNG', { output_format: 'png' }, { outputOptions: { mimeType: 'image/png' } }, []],
    [
      'a compressed JPEG',
      { output_format: 'jpeg', output_compression: 40 },
      { outputOptions: { mimeType: 'image/jpeg', compressionQuality: 40 } },
      [],
    ],
    ['a format that Imagen does not have', { output_format: 'webp' }, {}, ['dropped output_format']],
    ['high quality', { quality: 'hd' }, { outputOptions: { compressionQuality: 100 } }, ['downgraded quality']],
    [
      'quality as usual',
      { quality: 'standard' },
      { outputOptions: { compressionQuality: 75 } },
      ['downgraded quality'],
    ],
    ['low quality', { quality: 'low' }, {}, ['dropped quality']],
    ['any quality', { quality: 'auto' }, {}, []],
    [
      'a compression that wins over a quality',
      { quality: 'hd', output_compression: 10 },
      { outputOptions: { compressionQuality: 10 } },
      ['downgraded quality'],
    ],
    ['a style', { style: 'vivid' }, {}, ['dropped style']],
    [
      'what only OpenAI has',
      { background: 'transparent', moderation: 'low', user: 'u', partial_images: 2 },
      {},
      ['dropped background', 'dropped moderation', 'dropped partial_images', 'dropped user'],
    ],
    ['OpenAI’s fields with the value auto', { background: 'auto', moderation: 'auto', partial_images: 0 }, {}, []],
    ['bytes', { response_format: 'b64_json' }, {}, []],
    ['nulls for unset fields', { n: null, size: null, seed: null, quality: null, stream: null }, {}, []],
    ['a storage bucket, which callers may not choose', { storage_uri: 'gs://b' }, {}, ['dropped storage_uri']],
    ['unknown fields', { foo: 1, input_fidelity: 'high' }, {}, ['dropped foo', 'dropped input_fidelity']],
    ['the flag for reasons, which is always set', { includeRaiReason: false }, {}, []],
  ])('with %s', (_, body, parameters, losses) => {
    expect(parametersOf(body)).toEqual({ ...BASE, ...parameters });
    expect(lossesOf(encode(IMAGEN, body))).toEqual(losses);
  });

  const extensions: JsonObject = {
    aspectRatio: '9:16',
    seed: 7,
    negativePrompt: 'dogs',
    personGeneration: 'allow_adult',
    safetySetting: 'block_only_high',
    addWatermark: false,
    enhancePrompt: false,
    language: 'en',
    guidanceScale: 12.5,
    sampleImageSize: '2K',
    includeSafetyAttributes: true,
  };
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

  it.each([
    ['camelCase', extensions],
    ['snake_case', Object.fromEntries(Object.entries(extensions).map(([name, value]) => [snake(name), value]))],
  ])('contains Imagen’s own parameters, written in %s', (_, body) => {
    expect(parametersOf(body)).toEqual({ ...BASE, ...extensions });
    expect(lossesOf(encode(IMAGEN, body))).toEqual([]);
  });

  it('accepts Gemini’s name for the resolution', () => {
    expect(parametersOf({ image_size: '2K' })).toEqual({ ...BASE, sampleImageSize: '2K' });
  });

  it.each([
    [{ seed: 1, aspectRatio: '1:1', aspect_ratio: '4:3' }, 'aspect_ratio'],
    [{ imageSize: '1K', sampleImageSize: '2K' }, 'imageSize'],
  ])('refuses one field in two spellings: %j', (body, param) => {
    const fault = faultOf(() => encode(IMAGEN, body));
    expect(fault).toMatchObject({ code: 'invalid_request' });
    expect(fault).toHaveProperty('param', param === 'imageSize' ? 'sampleImageSize' : param);
  });

  it.each<[string, JsonObject, string]>([
    [IMAGEN, { n: 0 }, 'n'],
    [IMAGEN, { n: 5 }, 'n'],
    [IMAGEN, { n: -1 }, 'n'],
    [IMAGEN, { n: 1.5 }, 'n'],
    ['imagegeneration@002', { n: 9 }, 'n'],
    [IMAGEN, { response_format: 'url' }, 'response_format'],
    [IMAGEN, { response_format: 'hex' }, 'response_format'],
    [IMAGEN, { output_format: 'gif' }, 'output_format'],
    [IMAGEN, { output_compression: 101 }, 'output_compression'],
    [IMAGEN, { partial_images: 4 }, 'partial_images'],
    [IMAGEN, { size: 'huge' }, 'size'],
    [IMAGEN, { labels: { Team: 'a' } }, 'labels.Team'],
  ])('of %s is refused for %j', (model, body, param) => {
    expect(faultOf(() => encode(model, body))).toMatchObject({ code: 'invalid_value', param });
  });

  it('may request eight images and a style from the second version', () => {
    expect(parametersOf({ n: 8, style: 'watercolor' }, 'imagegeneration@002')).toEqual({
      ...BASE,
      sampleCount: 8,
      sampleImageStyle: 'watercolor',
    });
  });

  it('contains the caller’s labels unchanged and those of metadata in Google’s alphabet', () => {
    const { calls } = encode(IMAGEN, { labels: { team: 'search' } }, { labels: { 'User ID': 'A/B', team: 'other' } });
    expect(calls[0]!['labels']).toEqual({ team: 'search', user_id: 'a_b' });
  });

  it('never changes the caller’s body and is always valid', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (extra) => {
        const body = { prompt: 'p', n: 2, extra };
        const before = structuredClone(body);
        const { calls } = encode(IMAGEN, body);
        expect(body).toEqual(before);
        expect(JSON.parse(JSON.stringify(calls))).toEqual(calls);
      }),
    );
  });
});

const png = (data: string, more: object = {}) => ({ bytesBase64Encoded: data, mimeType: 'image/png', ...more });
const decode = (reply: unknown, body: JsonObject = {}, strict = true) =>
  encode(IMAGEN, body, { strict }).decode([reply]);
const { created } = CONTEXT;
/** Imagen counts no tokens. */
const drawn = (images: number) => ({ input: 0, output: 0, total: 0, images });

describe('a reply of Imagen', () => {
  it('becomes images with the rewritten prompt', () => {
    expect(decode({ predictions: [png('AAAA', { prompt: 'a fluffy cat' }), png('BBBB')] }, { n: 2 })).toEqual({
      ok: true,
      model: IMAGEN,
      usage: drawn(2),
      body: {
        created,
        data: [{ b64_json: 'AAAA', revised_prompt: 'a fluffy cat' }, { b64_json: 'BBBB' }],
        output_format: 'png',
      },
    });
  });

  const filtered = { raiFilteredReason: 'Your prompt was blocked. Support codes: 56562880' };

  it.each<[string, unknown, string]>([
    ['an entry with a reason', { predictions: [filtered] }, 'Support codes: 56562880.'],
    ['several with the same reason', { predictions: [filtered, filtered] }, 'Support codes: 56562880.'],
    ['an empty body', {}, 'gave no reason.'],
    ['an empty list', { predictions: [] }, 'gave no reason.'],
    ['a null for a list', { predictions: null }, 'gave no reason.'],
    ['entries of nothing', { predictions: [{}, null, { bytesBase64Encoded: '' }] }, 'gave no reason.'],
    ['nothing but ratings', { predictions: [{ contentType: 'Positive Prompt', safetyAttributes: {} }] }, 'no reason.'],
  ])('that is %s is an error with the reason and OpenAI’s code', (_, reply, message) => {
    const result = decode(reply, { n: 2 });
    expect(result).toMatchObject({ ok: false, failure: { status: 400, code: 'content_policy_violation' } });
    expect(!result.ok && result.failure.message.endsWith(message)).toBe(true);
  });

  it('contains the rest where some were filtered, and their number for clients that are not strict', () => {
    const reply = { predictions: [filtered, png('AAAA')] };
    const rest = { created, data: [{ b64_json: 'AAAA' }], output_format: 'png' };
    expect(decode(reply, { n: 4 })).toEqual({ ok: true, model: IMAGEN, body: rest, usage: drawn(1) });
    expect(decode(reply, { n: 4 }, false)).toMatchObject({
      body: { ...rest, filtered: { count: 3, reasons: [`${filtered.raiFilteredReason}.`] } },
    });
  });

  it('that is an error with status 200 is that error', () => {
    expect(decode({ error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } })).toMatchObject({
      ok: false,
      failure: { status: 429, kind: 'RESOURCE_EXHAUSTED', message: 'slow down' },
    });
  });

  it.each([[null], [[]], ['text'], [{ predictions: {} }]])('that is %j is a fault', (reply) => {
    expect(faultOf(() => decode(reply))).toBeInstanceOf(ReplyFault);
  });
});

describe('a stream of Imagen’s images', () => {
  it('is one complete event for each', () => {
    const { stream } = encode(IMAGEN, { stream: true });
    const text = stream?.({ created, data: [{ b64_json: 'A' }, { b64_json: 'B' }], usage: { total_tokens: 3 } });
    expect(
      text
        ?.split('\n\n')
        .filter(Boolean)
        .map((event) => event.split('\ndata: ')),
    ).toEqual([
      [
        'event: image_generation.completed',
        JSON.stringify({ type: 'image_generation.completed', created_at: created, b64_json: 'A' }),
      ],
      [
        'event: image_generation.completed',
        JSON.stringify({
          type: 'image_generation.completed',
          created_at: created,
          b64_json: 'B',
          usage: { total_tokens: 3 },
        }),
      ],
    ]);
  });

  it('is not created where none was requested', () => {
    expect(encode(IMAGEN, { stream: false }).stream).toBeUndefined();
  });
});
