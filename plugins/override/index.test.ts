import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldTable } from '../../src/formats/fields/field-table.ts';
import {
  chatFields,
  imagesFields,
  messagesFields,
  responsesFields,
  speechFields,
} from '../../src/formats/fields/field-tables.ts';
import {
  geminiCountFields,
  geminiEmbedBatchFields,
  geminiEmbedFields,
  geminiFields,
  geminiPredictFields,
} from '../../src/formats/fields/gemini-fields.ts';
import { applyEdit, type BodyFault, type Operation, type Target } from '../../src/core/kernel/index.ts';
import { createAttempt, createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import override from './index.ts';
import { mergeEdits } from './merge-levels.ts';

const operationThatFinds = (fault: BodyFault | undefined, seen: unknown[] = []) => {
  const validate: Operation['validate'] = (body) => {
    seen.push(body);
    return fault;
  };
  // The plugin reads only this field of an operation.
  return { validate } as Operation;
};

const applied = (
  json: Record<string, unknown>,
  overrideParams: Record<string, unknown> | undefined,
  operation?: Operation,
) => changed(json, { overrideParams }, operation);

async function changed(json: Record<string, unknown>, target: Partial<Target>, operation?: Operation) {
  const exchange = createExchange({ json, operation });
  const attempt = createAttempt(exchange, { target: { path: 'config.targets[1]', ...target } });
  await runPlugin(override, { exchange, attempt });
  return { exchange, attempt };
}

describe('override', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    ['adds a field', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['replaces a scalar', { a: 1 }, { a: 2 }, { a: 2 }],
    ['replaces an array whole', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    [
      'merges objects key by key',
      { a: { x: 1, y: { z: 1 } } },
      { a: { y: { w: 2 } } },
      { a: { x: 1, y: { z: 1, w: 2 } } },
    ],
    ['deletes with null', { a: 1, b: { c: 1, d: 2 } }, { a: null, b: { c: null } }, { b: { d: 2 } }],
    ['replaces a scalar by an object', { a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
  ])('%s', async (_, json, params, expected) => {
    const { attempt } = await applied(json, params);
    expect(attempt.body.json()).toEqual(expected);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    ['adds an absent field', {}, { a: 1 }, { a: 1 }],
    ['replaces null', { a: null }, { a: 1 }, { a: 1 }],
    [
      'keeps the client’s value',
      { a: 2, b: 0, c: '', d: false },
      { a: 1, b: 1, c: 'x', d: true },
      { a: 2, b: 0, c: '', d: false },
    ],
    ['fills objects key by key', { a: { x: 1, y: null } }, { a: { x: 2, y: 2, z: 2 } }, { a: { x: 1, y: 2, z: 2 } }],
    ['keeps a list unchanged', { a: [] }, { a: [1] }, { a: [] }],
    ['keeps a scalar when the default is an object', { a: 'text' }, { a: { b: 1 } }, { a: 'text' }],
    ['deletes nothing by a null', { a: 1 }, { a: null, b: null }, { a: 1 }],
    ['does not take an inherited property for a client’s value', {}, { constructor: 1 }, { constructor: 1 }],
  ])('a default %s', async (_, json, defaultParams, expected) => {
    const { attempt } = await changed(json, { defaultParams });
    expect(attempt.body.json()).toEqual(expected);
  });

  it.each<[string, Record<string, unknown>, string[][], Record<string, unknown>]>([
    ['deletes a field', { a: 1, b: 2 }, [['a']], { b: 2 }],
    ['deletes a field of an object', { a: { b: 1, c: 2 } }, [['a', 'b']], { a: { c: 2 } }],
    ['ignores absent fields', { a: 1 }, [['b'], ['c', 'd'], ['a', 'x']], { a: 1 }],
  ])('a drop %s', async (_, json, dropParams, expected) => {
    const { attempt } = await changed(json, { dropParams });
    expect(attempt.body.json()).toEqual(expected);
  });

  it.each<[string, Record<string, unknown>[], Record<string, unknown>]>([
    ['merges into the result of those before', [{ a: { b: 2 } }, { a: { c: 3 } }], { a: { b: 2, x: 1, c: 3 } }],
    ['replaces the client’s object when an earlier level deletes it', [{ a: null }, { a: { c: 3 } }], { a: { c: 3 } }],
    ['does so within an object, too', [{ a: { b: null } }, { a: { b: { c: 3 } } }], { a: { x: 1, b: { c: 3 } } }],
    ['may delete the value of an earlier one', [{ a: { b: 2 }, d: 4 }, { a: null }], { d: 4 }],
    ['does not change an object by an empty one', [{ a: { b: 2 } }, { a: {} }], { a: { b: 2, x: 1 } }],
  ])('of several levels each %s', async (_, overrideLevels, expected) => {
    const { attempt } = await changed({ a: { b: { y: 1 }, x: 1 } }, { overrideParams: {}, overrideLevels });
    expect(attempt.body.json()).toEqual(expected);
  });

  it('gives the same result as merging any levels one by one', async () => {
    const { object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
      value: fc.oneof(fc.constantFrom(1, 'text', null, [1], []), tie('object')),
      object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
    }));
    await fc.assert(
      fc.asyncProperty(object, fc.array(object, { maxLength: 4 }), async (json, overrideLevels) => {
        const { attempt } = await changed(json, { overrideParams: {}, overrideLevels });
        const laid = overrideLevels.reduce((made, params) => mergeEdits(params, '').reduce(applyEdit, made), json);
        expect(attempt.body.json()).toEqual(laid);
      }),
    );
  });

  it('applies overrides after defaults and drops last', async () => {
    const { attempt } = await changed(
      { a: 'asked' },
      {
        defaultParams: { a: 'default', b: 'default', c: 'default' },
        overrideParams: { b: 'override', c: 'override' },
        dropParams: [['c']],
      },
    );
    expect(attempt.body.json()).toEqual({ a: 'asked', b: 'override' });
    expect(attempt.body.edits.map(({ source }) => source.split(' ')[1])).toEqual([
      'default_params',
      'default_params',
      'override_params',
      'override_params',
      'drop_params',
    ]);
  });

  it('changes only this attempt’s body, so that the next attempt starts from the request', async () => {
    const { exchange, attempt } = await applied({ model: 'asked' }, { model: 'better' });
    expect(attempt.body.string('model')).toBe('better');
    expect(exchange.request.body?.string('model')).toBe('asked');
    expect(exchange.request.body?.original.toString()).toBe('{"model":"asked"}');
  });

  it('records the source of every change', async () => {
    const { attempt } = await applied({}, { model: 'm', a: { b: 1 } });
    expect(attempt.body.edits.map(({ path, source }) => `${path.join('.')} by ${source}`)).toEqual([
      'model by config.targets[1] override_params',
      'a.b by config.targets[1] override_params',
    ]);
  });

  describe('for an API that takes names in both cases', () => {
    const images = { fields: imagesFields, validate: () => undefined } as unknown as Operation;

    it.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
      [
        'spells a field as the body does',
        { imageConfig: { x: 1 } },
        { image_config: { y: 2 } },
        { imageConfig: { x: 1, y: 2 } },
      ],
      [
        'replaces a field that the body has in both cases',
        { imageSize: 1, image_size: 2 },
        { image_size: 3 },
        { image_size: 3 },
      ],
      ['deletes the other names of a field', { sampleImageSize: 1 }, { image_size: 3 }, { image_size: 3 }],
      [
        'keeps two names that it sets itself',
        { sampleImageSize: 1 },
        { image_size: 3, sample_image_size: 4 },
        { image_size: 3, sampleImageSize: 4 },
      ],
    ])('%s', async (_, json, params, expected) => {
      expect((await applied(json, params, images)).attempt.body.json()).toEqual(expected);
    });

    it('sets a field at any depth', async () => {
      const path = Array.from({ length: 60 }, (_, index) => `some_name${index}`);
      const nested = (value: number) => path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
      const params = nested(2) as Record<string, unknown>;
      expect((await applied(nested(1) as Record<string, unknown>, params, images)).attempt.body.json()).toEqual(params);
    });
  });

  describe('for a parameter that several APIs have', () => {
    const doorOf = (fields: FieldTable) => ({ fields, validate: () => undefined }) as unknown as Operation;
    type Body = Record<string, unknown>;
    const TOOL = { type: 'function', name: 'f' };
    const HI = { role: 'user', content: 'Hi' };
    const FOUND = { type: 'tool_search_output', call_id: 'c', tools: [TOOL] };

    it.each<[string, FieldTable, Body, Partial<Target>, Body]>([
      [
        'sets the limit of Responses',
        responsesFields,
        { max_output_tokens: 90_000 },
        { overrideParams: { max_tokens: 7 } },
        { max_output_tokens: 7 },
      ],
      [
        'sets the limit of Gemini',
        geminiFields,
        { generation_config: { max_output_tokens: 60_000, temperature: 2 } },
        { overrideParams: { max_tokens: 7, temperature: 0 } },
        { generation_config: { max_output_tokens: 7, temperature: 0 } },
      ],
      [
        'sets the limit of Gemini where there is none',
        geminiFields,
        {},
        { overrideParams: { max_completion_tokens: 7 } },
        { generationConfig: { maxOutputTokens: 7 } },
      ],
      [
        'reads Gemini’s names in either case',
        messagesFields,
        { max_tokens: 9 },
        { overrideParams: { generation_config: { max_output_tokens: 7 } } },
        { max_tokens: 7 },
      ],
      [
        'removes names of other APIs',
        responsesFields,
        { max_tokens: 9, generationConfig: { maxOutputTokens: 9, seed: 1 } },
        { overrideParams: { max_tokens: 7 } },
        { generationConfig: { seed: 1 }, max_output_tokens: 7 },
      ],
      [
        'prefers the name of the API at one level',
        responsesFields,
        {},
        { overrideParams: { max_output_tokens: 7, max_tokens: 9 } },
        { max_output_tokens: 7 },
      ],
      [
        'takes the last of two other names',
        responsesFields,
        {},
        { overrideParams: { max_tokens: 9, max_completion_tokens: 7 } },
        { max_output_tokens: 7 },
      ],
      [
        'prefers the nearer level',
        responsesFields,
        {},
        { overrideParams: {}, overrideLevels: [{ max_output_tokens: 9 }, { max_tokens: 7 }] },
        { max_output_tokens: 7 },
      ],
      ...[['tools'], ['functions']].map((dropParams): [string, FieldTable, Body, Partial<Target>, Body] => [
        `deletes tools in the items of an input too: ${dropParams.join()}`,
        responsesFields,
        { tools: [TOOL], input: [HI, { type: 'additional_tools', tools: [TOOL] }, FOUND] },
        { dropParams: [dropParams] },
        { input: [HI, { ...FOUND, tools: [] }] },
      ]),
      [
        'replaces tools in the items of an input by its own',
        responsesFields,
        { input: [{ type: 'additional_tools', tools: [TOOL] }, HI] },
        { overrideParams: { tools: [] } },
        { tools: [], input: [HI] },
      ],
      [
        'leaves tools in the items of an input where it changes other fields',
        responsesFields,
        { input: [{ type: 'additional_tools', tools: [TOOL] }, FOUND, HI], tool_choice: 'auto' },
        { dropParams: [['tool_choice']], overrideParams: { temperature: 0 } },
        { input: [{ type: 'additional_tools', tools: [TOOL] }, FOUND, HI], temperature: 0 },
      ],
      [
        'makes a list of a text for stop',
        messagesFields,
        {},
        { overrideParams: { stop: 'END' } },
        { stop_sequences: ['END'] },
      ],
      [
        'applies no default beside a name of the API',
        geminiFields,
        { generationConfig: { maxOutputTokens: 5 } },
        { defaultParams: { max_tokens: 9, temperature: 1 } },
        { generationConfig: { maxOutputTokens: 5, temperature: 1 } },
      ],
      [
        'drops every name',
        geminiFields,
        { generationConfig: { maxOutputTokens: 5, responseMimeType: 'x', responseSchema: {}, topP: 1 } },
        { dropParams: [['max_tokens'], ['response_format']] },
        { generationConfig: { topP: 1 } },
      ],
      [
        'keeps a limit that it sets beside a drop of another name',
        responsesFields,
        { max_output_tokens: 9 },
        { overrideParams: { max_tokens: 7 }, dropParams: [['max_output_tokens']] },
        { max_output_tokens: 7 },
      ],
      [
        'leaves the members of an object that it drops',
        chatFields,
        { max_tokens: 9, generationConfig: {} },
        { dropParams: [['generationConfig']] },
        { max_tokens: 9 },
      ],
      [
        'sets a form of an answer under its own name alone',
        responsesFields,
        { text: { format: { type: 'text' } } },
        { overrideParams: { response_format: { type: 'json_object' } } },
        { text: { format: { type: 'text' } }, response_format: { type: 'json_object' } },
      ],
      [
        'keeps the names of an API without the parameter',
        speechFields,
        { response_format: 'mp3' },
        { dropParams: [['text', 'format']] },
        { response_format: 'mp3' },
      ],
    ])('%s', async (_, fields, json, target, expected) => {
      expect((await changed(json, target, doorOf(fields))).attempt.body.json()).toEqual(expected);
    });

    it('names what it set', async () => {
      const { attempt } = await changed({}, { overrideParams: { max_tokens: 7 } }, doorOf(geminiFields));
      expect(attempt.body.edits).toEqual([
        {
          path: ['generationConfig', 'maxOutputTokens'],
          value: 7,
          source: 'config.targets[1] override_params',
        },
      ]);
    });
  });

  it('does not change the body without overrides', async () => {
    const { exchange, attempt } = await applied(
      { model: 'asked' },
      undefined,
      operationThatFinds({ message: 'never asked', param: null, missing: false }),
    );
    expect(attempt.body).toBe(exchange.request.body);
  });

  it('validates the result as if the client had sent it, and names the target in the error', async () => {
    const seen: unknown[] = [];
    const operation = operationThatFinds(
      { message: '`temperature` must be number.', param: 'temperature', missing: false },
      seen,
    );
    await expect(applied({ model: 'm' }, { temperature: 'hot' }, operation)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'temperature',
      message: 'With the parameters of config.targets[1]: `temperature` must be number.',
    });
    expect(seen).toEqual([{ model: 'm', temperature: 'hot' }]);
  });

  describe('for a body inside a body of Google’s API', () => {
    const bodyOf = (fields: FieldTable) => ({ fields, validate: () => undefined }) as unknown as Operation;
    const OVERRIDE = { generationConfig: { maxOutputTokens: 7 }, outputDimensionality: 3, taskType: 'T' };
    const whole = (fields: object) => ({ generateContentRequest: { contents: [], ...fields } });

    it.each<[string, FieldTable, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
      [
        'a whole request that is counted, as the body spells its fields',
        geminiCountFields,
        whole({ generation_config: { max_output_tokens: 1, topK: 1 } }),
        { generationConfig: { maxOutputTokens: 7 } },
        whole({ generation_config: { max_output_tokens: 7, topK: 1 } }),
      ],
      [
        'the fields themselves, where they stand at the top level',
        geminiCountFields,
        { contents: [] },
        { generationConfig: { maxOutputTokens: 7 } },
        { contents: [], generationConfig: { maxOutputTokens: 7 } },
      ],
      [
        'the settings of one content',
        geminiEmbedFields,
        { content: {} },
        OVERRIDE,
        { content: {}, outputDimensionality: 3, taskType: 'T' },
      ],
      [
        'the settings of one content in Vertex AI’s object',
        geminiEmbedFields,
        { content: {}, embedContentConfig: { task_type: 'X', title: 'y' } },
        OVERRIDE,
        { content: {}, embedContentConfig: { task_type: 'T', title: 'y', outputDimensionality: 3 } },
      ],
      [
        'each request of a batch',
        geminiEmbedBatchFields,
        { requests: [{ content: 1, output_dimensionality: 9 }, { content: 2 }] },
        OVERRIDE,
        {
          requests: [
            { content: 1, output_dimensionality: 3, taskType: 'T' },
            { content: 2, outputDimensionality: 3, taskType: 'T' },
          ],
        },
      ],
      [
        'instances and their parameters',
        geminiPredictFields,
        { instances: [{ content: 'x' }] },
        OVERRIDE,
        { instances: [{ content: 'x', task_type: 'T' }], parameters: { outputDimensionality: 3 } },
      ],
    ])('changes %s, and nothing of other operations', async (_, fields, json, overrideParams, expected) => {
      const { attempt } = await changed(json, { overrideParams }, bodyOf(fields));
      expect(attempt.body.json()).toEqual(expected);
    });

    it('applies defaults and drops there, too', async () => {
      const target = { defaultParams: { taskType: 'T' }, dropParams: [['title']] };
      const requests = [{ task_type: 'X', title: 'a' }, { title: 'b' }];
      const { attempt } = await changed({ requests }, target, bodyOf(geminiEmbedBatchFields));
      expect(attempt.body.json()).toEqual({ requests: [{ task_type: 'X' }, { taskType: 'T' }] });
      expect(attempt.body.edits.every(({ source }) => source.startsWith('config.targets[1] '))).toBe(true);
    });

    it('leaves values that validation refuses', async () => {
      for (const requests of [7, 'x', null, [7]]) {
        const { attempt } = await changed({ requests }, { overrideParams: OVERRIDE }, bodyOf(geminiEmbedBatchFields));
        expect(attempt.body.json()).toEqual({ requests });
      }
    });
  });
});
