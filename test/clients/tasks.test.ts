import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DRIVERS } from './drivers/index.ts';
import { EMBEDDERS, PAINTERS, startMatrix, UPSTREAMS, type Matrix } from './matrix.ts';
import { COUNT, vectorOf } from './upstream/tasks.ts';
import { PNG } from './words.ts';

/** Embeddings, images and counts, by every client that has them. */

let matrix: Matrix;
beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

const TEXTS = ['one', 'three', 'seventeen'];

it('asks for base64 where the SDK does, and gets numbers', async () => {
  const [openai] = DRIVERS;
  expect(await openai?.embed?.(matrix, '@own/text-embedding-3-small', TEXTS)).toEqual(TEXTS.map(vectorOf));
  expect(matrix.upstream.seen.at(-1)?.json['encoding_format']).toBe('base64');
});

describe.each(DRIVERS)('$name', ({ embed, paint, count, lacks }) => {
  it('does what is not a conversation, or has a reason not to', () => {
    const missing = [
      ...(embed ? [] : ['embeddings']),
      ...(paint ? [] : ['images']),
      ...(count ? [] : ['token counts']),
    ];
    expect(Object.keys(lacks)).toEqual(expect.arrayContaining(missing));
  });

  describe.runIf(embed)('embeds', () => {
    it.each(EMBEDDERS)('several texts by %s, in their order', async (model) => {
      expect(await embed!(matrix, model, TEXTS)).toEqual(TEXTS.map(vectorOf));
    });
  });

  describe.runIf(paint)('paints', () => {
    it.each(PAINTERS)('two images by %s', async (model) => {
      expect(await paint!(matrix, model, 2)).toEqual([PNG, PNG]);
    });
  });

  describe.runIf(count)('counts', () => {
    it.each(UPSTREAMS.filter(({ wire }) => wire !== 'openai'))('tokens for $name', async ({ model }) => {
      expect(await count!(matrix, model, 'How many?')).toBe(COUNT);
    });

    it.each(UPSTREAMS.filter(({ wire }) => wire === 'openai'))(
      'no tokens for $name, which has no count',
      async ({ model }) => {
        await expect(count!(matrix, model, 'How many?')).rejects.toMatchObject({ status: 501 });
      },
    );
  });
});
