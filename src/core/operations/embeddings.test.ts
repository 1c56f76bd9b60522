import { describe, expect, test } from 'vitest';
import { embeddings } from './openai.ts';

const validate = (body: object) => embeddings.validate({ model: 'm', ...body });

describe('a body of /v1/embeddings', () => {
  test.each([
    { input: 'a' },
    { input: ['a', 'b'] },
    { input: [1, 2] },
    { input: [[1], [2, 3]] },
    { input: { text: 'a', image: { url: 'gs://b/i.png' } } },
    { input: [{ text: 'a' }, 'b'] },
    { input: 'a', encoding_format: 'base64', dimensions: 256, user: 'u' },
    { input: 'a', encoding_format: null, dimensions: null, user: null, task_type: null, title: null },
    // Values that other servers accept, and their limits, are left to the upstream.
    { input: 'a', encoding_format: 'ubinary', late_chunking: true },
  ])('is accepted as %j', (body) => {
    expect(validate(body)).toBeUndefined();
  });

  test.each<[object, string, boolean]>([
    [{}, 'input', true],
    [{ input: null }, 'input', false],
    [{ input: [] }, 'input', false],
    [{ input: 7 }, 'input', false],
    [{ input: [true] }, 'input[0]', false],
    [{ input: ['a', 1.5] }, 'input[1]', false],
    [{ input: ['a', null] }, 'input[1]', false],
    [{ input: 'a', dimensions: 'many' }, 'dimensions', false],
    [{ input: 'a', encoding_format: 7 }, 'encoding_format', false],
    [{ input: 'a', task_type: 7 }, 'task_type', false],
    [{ input: 'a', auto_truncate: 'no' }, 'auto_truncate', false],
    [{ input: 'a', model: 7 }, 'model', false],
  ])('is refused as %j because of %s', (body, param, missing) => {
    expect(validate(body)).toMatchObject({ param, missing });
  });
});
