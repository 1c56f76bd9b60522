import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bodyOf, encode, lostParams, prediction } from './encode.testkit.ts';
import { partition } from './text.ts';

const MODEL = 'text-embedding-005';
const GEMINI = 'gemini-embedding-001';

const instancesOf = (calls: readonly object[]): unknown[] =>
  calls.flatMap((call) => (call as { instances: unknown[] }).instances);

describe('a request for embeddings of text', () => {
  test.each<[object, object]>([
    [{ input: 'a' }, { instances: [{ content: 'a' }] }],
    [{ input: ['a', 'b'] }, { instances: [{ content: 'a' }, { content: 'b' }] }],
    [{ input: { text: 'a' } }, { instances: [{ content: 'a' }] }],
    [{ input: [{ text: 'a' }, 'b'] }, { instances: [{ content: 'a' }, { content: 'b' }] }],
    [
      { input: 'a', dimensions: 256 },
      { instances: [{ content: 'a' }], parameters: { outputDimensionality: 256 } },
    ],
    [
      { input: 'a', auto_truncate: false },
      { instances: [{ content: 'a' }], parameters: { autoTruncate: false } },
    ],
    [
      { input: 'a', autoTruncate: true },
      { instances: [{ content: 'a' }], parameters: { autoTruncate: true } },
    ],
    [
      { input: ['a', 'b'], task_type: 'RETRIEVAL_DOCUMENT', title: 't' },
      {
        instances: [
          { content: 'a', task_type: 'RETRIEVAL_DOCUMENT', title: 't' },
          { content: 'b', task_type: 'RETRIEVAL_DOCUMENT', title: 't' },
        ],
      },
    ],
    [
      { input: 'a', dimensions: null, encoding_format: null, user: null, task_type: null, title: null, x: null },
      { instances: [{ content: 'a' }] },
    ],
  ])('%j is encoded as %j', (body, call) => {
    const encoded = encode(MODEL, { ...body });
    expect(encoded.calls).toEqual([call]);
    expect(encoded.losses).toEqual([]);
  });

  test.each([
    ['task_type', 'CLASSIFICATION', 'CLASSIFICATION'],
    ['task_type', 'classification', 'CLASSIFICATION'],
    ['taskType', 'CODE_RETRIEVAL_QUERY', 'CODE_RETRIEVAL_QUERY'],
    ['task_type', 'A_NEW_TASK', 'A_NEW_TASK'],
    ['input_type', 'search_document', 'RETRIEVAL_DOCUMENT'],
    ['input_type', 'search_query', 'RETRIEVAL_QUERY'],
    ['input_type', 'classification', 'CLASSIFICATION'],
    ['input_type', 'clustering', 'CLUSTERING'],
    ['input_type', 'query', 'RETRIEVAL_QUERY'],
    ['input_type', 'document', 'RETRIEVAL_DOCUMENT'],
    ['input_type', 'passage', 'RETRIEVAL_DOCUMENT'],
    ['task_type', 'search_query', 'RETRIEVAL_QUERY'],
  ])('%s %j is the task %s', (name, value, task) => {
    expect(encode(MODEL, { input: 'a', [name]: value }).calls).toEqual([
      { instances: [{ content: 'a', task_type: task }] },
    ]);
  });

  test('accepts two names for the same task, and refuses two that contradict each other', () => {
    const both = (input_type: string) => encode(MODEL, { input: 'a', task_type: 'RETRIEVAL_QUERY', input_type });
    expect(both('search_query').calls).toHaveLength(1);
    expect(() => both('clustering')).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'input_type' }) as Error,
    );
  });

  test.each<[object, string]>([
    [{ title: 't' }, 'title'],
    [{ title: 't', task_type: 'CLUSTERING' }, 'title'],
    [{ user: 'u' }, 'user'],
    [{ labels: { a: 'b' } }, 'labels'],
    [{ late_chunking: true }, 'late_chunking'],
    [{ input: [{ text: 'a', x: 1 }] }, 'input[0].x'],
  ])('%j loses %s, which is reported', (body, param) => {
    const encoded = encode(MODEL, { input: 'a', ...body });
    expect(lostParams(encoded)).toEqual([param]);
    expect(JSON.stringify(encoded.calls)).toBe('[{"instances":[{"content":"a"}]}]'.replace('}]}]', taskOf(body)));
  });
  const taskOf = (body: object): string =>
    'task_type' in body ? `,"task_type":${JSON.stringify(body.task_type)}}]}]` : '}]}]';

  test.each<[object, string]>([
    [{}, 'input'],
    [{ input: null }, 'input'],
    [{ input: '' }, 'input'],
    [{ input: ['a', ''] }, 'input[1]'],
    [{ input: ['a', null] }, 'input[1]'],
    [{ input: [1, 2, 3] }, 'input'],
    [{ input: [[1], [2]] }, 'input'],
    [{ input: ['a', [1]] }, 'input'],
    [{ input: {} }, 'input'],
    [{ input: [{ text: '' }] }, 'input[0].text'],
    [{ input: [{ text: 1 }] }, 'input[0].text'],
    [{ input: [{ text: 'a', image: { url: 'gs://b/i.png' } }] }, 'input[0].image'],
    [{ input: 'a', dimensions: 0 }, 'dimensions'],
    [{ input: 'a', dimensions: 1.5 }, 'dimensions'],
    [{ input: 'a', encoding_format: 'int8' }, 'encoding_format'],
    [{ input: 'a', task_type: 'no task' }, 'task_type'],
    [{ input: 'a', auto_truncate: 'yes' }, 'auto_truncate'],
  ])('%j is refused for its %s', (body, param) => {
    expect(() => encode(MODEL, { ...body })).toThrow(expect.objectContaining({ name: 'RequestFault', param }) as Error);
  });

  test('of more than 2048 texts is refused', () => {
    const of = (length: number) => encode(MODEL, { input: Array.from({ length }, () => 'a') });
    expect(of(2048).calls).toHaveLength(9);
    expect(() => of(2049)).toThrow(expect.objectContaining({ code: 'invalid_value', param: 'input' }) as Error);
  });

  test('is divided into calls of 250 texts, or of the number in the settings', () => {
    const input = Array.from({ length: 600 }, (_, index) => `t${index}`);
    const sizes = (model: string, settings: object) =>
      encode(model, { input }, { settings }).calls.map((call) => instancesOf([call]).length);
    expect(sizes(MODEL, {})).toEqual([250, 250, 100]);
    expect(sizes(MODEL, { instances_per_call: 200 })).toEqual([200, 200, 200]);
    expect(sizes(GEMINI, {})).toHaveLength(600);
    expect(sizes(GEMINI, { instances_per_call: 250 })).toEqual([250, 250, 100]);
    expect(encode(MODEL, { input }).parallel).toBe(8);
    expect(encode(MODEL, { input }, { settings: { parallel_calls: 3 } }).parallel).toBe(3);
  });

  test('keeps a call below 20,000 tokens at an estimate of two bytes each', () => {
    const input = ['x'.repeat(30_000), 'y'.repeat(10_000), 'z', 'é'.repeat(30_000), 'last'];
    expect(encode(MODEL, { input }).calls.map((call) => instancesOf([call]).length)).toEqual([2, 1, 1, 1]);
  });

  test('never changes its body', () => {
    const body = { input: ['a', { text: 'b' }], dimensions: 4, user: 'u' };
    const before = structuredClone(body);
    encode(MODEL, body);
    expect(body).toEqual(before);
  });
});

describe('a reply of predictions', () => {
  test('is returned in order, with the sum of the tokens', () => {
    const encoded = encode(GEMINI, { input: ['a', 'b'], user: 'u' });
    const reply = encoded.decode([
      { predictions: [prediction([0.5, -1], 2)] },
      { predictions: [prediction([0.25, 3], 5)] },
    ]);
    expect(reply).toEqual({
      ok: true,
      body: {
        object: 'list',
        model: GEMINI,
        data: [
          { object: 'embedding', index: 0, embedding: [0.5, -1] },
          { object: 'embedding', index: 1, embedding: [0.25, 3] },
        ],
        usage: { prompt_tokens: 7, total_tokens: 7 },
      },
      usage: { input: 7, output: 0, total: 7 },
    });
  });

  test('reports a truncated text, unless the client is strict', () => {
    const predictions = [prediction([1], 2048, true), prediction([1])];
    const reported = (strict: boolean) =>
      bodyOf(encode(MODEL, { input: ['a', 'b'] }, { strict }).decode([{ predictions }]))['data'];
    expect(reported(false)).toMatchObject([{ truncated: true }, {}]);
    expect(JSON.stringify(reported(true))).not.toContain('truncated');
  });

  test('without token counts has zero usage, and is not counted', () => {
    const reply = encode(MODEL, { input: 'a' }).decode([{ predictions: [{ embeddings: { values: [1] } }] }]);
    expect(reply).not.toHaveProperty('usage');
    expect(bodyOf(reply)['usage']).toEqual({ prompt_tokens: 0, total_tokens: 0 });
  });

  test('keeps the largest and smallest floats, in both encodings', () => {
    const values = [-0, 1e-45, -3.4028234663852886e38, 1.401298464324817e-45];
    const reported = (more: object) =>
      bodyOf(encode(MODEL, { input: 'a', ...more }).decode([{ predictions: [prediction(values)] }])) as {
        data: { embedding: unknown }[];
      };
    expect(reported({}).data[0]!.embedding).toEqual(values);
    const base64 = Buffer.from(Float32Array.from(values).buffer).toString('base64');
    expect(reported({ encoding_format: 'base64' }).data[0]!.embedding).toBe(base64);
  });

  test.each<[string, unknown]>([
    ['no object', null],
    ['none', {}],
    ['too few', { predictions: [prediction([1])] }],
    ['too many', { predictions: [prediction([1]), prediction([1]), prediction([1])] }],
    ['an empty one', { predictions: [prediction([1]), prediction([])] }],
    ['one that is not an object', { predictions: [prediction([1]), null] }],
    ['one without a vector', { predictions: [prediction([1]), { embeddings: {} }] }],
    ['one with text in its vector', { predictions: [prediction([1]), { embeddings: { values: ['1'] } }] }],
    ['one with a number beyond any float', { predictions: [prediction([1]), prediction([Number('1e400')])] }],
    ['one with a number too large for float32', { predictions: [prediction([1]), prediction([-1e39])] }],
    ['one with NaN in Google’s notation', { predictions: [prediction([1]), { embeddings: { values: ['NaN'] } }] }],
    ['vectors of different lengths', { predictions: [prediction([1, 2]), prediction([1])] }],
  ])('with %s in it is refused, whatever else it holds', (_, reply) => {
    expect(() => encode(MODEL, { input: ['a', 'b'] }).decode([reply])).toThrow(
      expect.objectContaining({ name: 'ReplyFault' }) as Error,
    );
  });
});

describe('laws', () => {
  const texts = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 60 });

  test('all texts arrive once, in order, and vector i is that of text i', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 70 }), (input, instances_per_call) => {
        const { calls, decode } = encode(MODEL, { input }, { settings: { instances_per_call } });
        expect(instancesOf(calls)).toEqual(input.map((content) => ({ content })));
        let next = 0;
        const replies = calls.map((call) => ({ predictions: instancesOf([call]).map(() => prediction([next++, 1])) }));
        const { data } = bodyOf(decode(replies)) as { data: { index: number; embedding: number[] }[] };
        expect(data.map(({ index, embedding }) => [index, embedding[0]])).toEqual(input.map((_, at) => [at, at]));
      }),
    );
  });

  test('base64 contains the bytes of a Float32Array of the vector', () => {
    const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(floats, (values) => {
        const { decode } = encode(MODEL, { input: 'a', encoding_format: 'base64' });
        const { data } = bodyOf(decode([{ predictions: [prediction(values)] }])) as { data: { embedding: string }[] };
        const bytes = Buffer.from(data[0]!.embedding, 'base64');
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        expect(values.map((_, at) => view.getFloat32(at * 4, true))).toEqual(values);
        expect(bytes).toHaveLength(values.length * 4);
      }),
    );
  });
});

const weights = fc.array(fc.integer({ min: 0, max: 30 }));
const limits = fc.record({ count: fc.integer({ min: 1, max: 10 }), weight: fc.integer({ min: 1, max: 40 }) });

test('calls contain all items once and in order, none is empty, and only a single item exceeds a limit', () => {
  fc.assert(
    fc.property(weights, limits, (items, limits) => {
      const calls = partition(items, limits, (weight) => weight);
      expect(calls.flat()).toEqual(items);
      for (const call of calls) {
        expect(call.length).toBeGreaterThan(0);
        expect(call.length).toBeLessThanOrEqual(limits.count);
        const sum = call.reduce((total, weight) => total + weight, 0);
        if (call.length > 1) expect(sum).toBeLessThanOrEqual(limits.weight);
      }
    }),
  );
});

test('no two neighbouring calls would have fitted into one', () => {
  fc.assert(
    fc.property(weights, limits, (items, limits) => {
      const calls = partition(items, limits, (weight) => weight);
      for (const [at, call] of calls.entries()) {
        const next = calls[at + 1]?.[0];
        if (next === undefined) continue;
        const sum = call.reduce((total, weight) => total + weight, next);
        expect(call.length === limits.count || sum > limits.weight).toBe(true);
      }
    }),
  );
});
