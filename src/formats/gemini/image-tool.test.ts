import { describe, expect, it } from 'vitest';
import { asSent } from '../as-sent.testkit.ts';
import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { formats } from '../index.ts';
import { objectOf } from '../json/object.ts';
import { deepFreeze, replyContext, requestTarget } from '../contexts.testkit.ts';
import { finish } from '../steps.ts';
import { translateRequest } from '../translate.ts';

/** `image_generation` of the Responses API at Gemini (docs/protocols/openai-responses.md#images). */

const [EARLY, THIRD] = ['gemini-2.5-flash-image', 'gemini-3-pro-image-preview'];
const f = { type: 'function', name: 'f' };
const draw = { type: 'image_generation' };

function translate(body: JsonObject, model: string = THIRD, host: 'direct' | 'vertex' = 'vertex') {
  const encoded = finish(
    translateRequest(deepFreeze({ model: 'm', input: 'A cat.', ...body }), {
      client: formats['openai-responses'],
      upstream: formats.gemini,
      target: requestTarget({ model, strict: false, host }),
      reply: replyContext(),
    }),
  );
  const { tools, toolConfig, generationConfig } = asSent(encoded.body);
  const { responseModalities: modalities, imageConfig: image } = objectOf(generationConfig) ?? {};
  return {
    tools,
    toolConfig,
    modalities,
    image,
    losses: encoded.losses.map(({ action, param }) => `${action} ${param}`),
  };
}
const asked = (options: JsonObject, model?: string, host?: 'direct' | 'vertex') =>
  translate({ tools: [{ ...draw, ...options }] }, model, host);

describe('image_generation', () => {
  it.each([EARLY, THIRD, 'gemini-2.0-flash-preview-image-generation'])('asks %s for text and pictures', (model) => {
    expect(translate({ tools: [draw] }, model)).toEqual({ modalities: ['TEXT', 'IMAGE'], losses: [] });
  });

  it.each(['gemini-2.5-flash', 'gemini-3-pro-preview'])('is a loss at %s, which draws nothing', (model) => {
    expect(translate({ tools: [f, draw] }, model)).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      losses: ['dropped tools[1]'],
    });
  });

  it('stands beside other tools', () => {
    expect(translate({ tools: [draw, f, { type: 'web_search' }] })).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'f' }] }, { googleSearch: {} }],
      modalities: ['TEXT', 'IMAGE'],
      losses: [],
    });
  });

  it.each<[JsonObject, JsonObject | undefined, readonly string[]]>([
    [{ size: '1024x1024' }, { aspectRatio: '1:1' }, []],
    [{ size: '2048x2048' }, { aspectRatio: '1:1', imageSize: '2K' }, []],
    [{ size: '1536x1024' }, { aspectRatio: '3:2' }, ['downgraded tools[0].size']],
    [
      { output_format: 'jpeg', output_compression: 70 },
      { imageOutputOptions: { mimeType: 'image/jpeg', compressionQuality: 70 } },
      [],
    ],
    [{ output_format: 'webp' }, undefined, ['dropped tools[0].output_format']],
    [{ quality: 'high' }, undefined, ['dropped tools[0].quality']],
    [{ background: 'transparent' }, undefined, ['dropped tools[0].background']],
    [{ moderation: 'low' }, undefined, ['dropped tools[0].moderation']],
    [{ partial_images: 2 }, undefined, ['dropped tools[0].partial_images']],
    [{ input_fidelity: 'high' }, undefined, ['dropped tools[0].input_fidelity']],
    [{ action: 'edit' }, undefined, ['dropped tools[0].action']],
    [{ model: 'gpt-image-1' }, undefined, ['dropped tools[0].model']],
    [
      // SDKs send these of each request.
      {
        background: 'auto',
        input_fidelity: null,
        moderation: 'auto',
        output_compression: 100,
        output_format: 'png',
        partial_images: 0,
        quality: 'auto',
        size: 'auto',
      },
      undefined,
      [],
    ],
  ])('with %j', (options, image, losses) => {
    expect(asked(options)).toMatchObject({ losses });
    expect(asked(options).image).toEqual(image);
  });

  it('has no settings of the file at the Developer API', () => {
    const { image, losses } = asked({ output_format: 'jpeg', output_compression: 70 }, THIRD, 'direct');
    expect(image).toBeUndefined();
    expect(losses).toEqual(['dropped tools[0].output_format', 'dropped tools[0].output_compression']);
  });

  it.each([
    [{ input_image_mask: { image_url: 'data:image/png;base64,aGk=' } }, 'tools[0].input_image_mask'],
    [{ size: 'large' }, 'tools[0].size'],
  ])('is refused with %j', (options, param) => {
    expect(() => asked(options)).toThrowError(RequestFault);
    expect(() => asked(options)).toThrowError(expect.objectContaining({ param }));
  });
});

describe('a choice of image_generation', () => {
  const tools = [f, draw, { type: 'web_search' }];

  it('makes the answer a picture, from the third generation on', () => {
    expect(translate({ tools, tool_choice: draw })).toEqual({ modalities: ['IMAGE'], losses: [] });
    expect(translate({ tools, tool_choice: draw }, EARLY)).toEqual({
      modalities: ['TEXT', 'IMAGE'],
      losses: ['downgraded tool_choice'],
    });
  });

  it('allows no pictures where it lists other tools', () => {
    const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [f] };
    expect(translate({ tools, tool_choice })).toMatchObject({ tools: [{ functionDeclarations: [{}] }], losses: [] });
    expect(translate({ tools, tool_choice }).modalities).toBeUndefined();
    expect(translate({ tools, tool_choice: 'none' }).modalities).toBeUndefined();
  });

  it('allows pictures alone, or beside other tools', () => {
    const only = (mode: string, ...listed: readonly object[]) =>
      translate({ tools, tool_choice: { type: 'allowed_tools', mode, tools: listed } });
    expect(only('auto', draw)).toMatchObject({
      toolConfig: { functionCallingConfig: { mode: 'NONE' } },
      modalities: ['TEXT', 'IMAGE'],
      losses: [],
    });
    expect(only('auto', draw, { type: 'web_search' })).toMatchObject({
      tools: [{ googleSearch: {} }],
      modalities: ['TEXT', 'IMAGE'],
      losses: [],
    });
    expect(only('required', draw, f)).toMatchObject({
      tools: [{ functionDeclarations: [{}] }],
      modalities: ['TEXT', 'IMAGE'],
      losses: ['downgraded tool_choice'],
    });
  });
});
