import { describe, expect, it } from 'vitest';
import { imagesFields, messagesFields } from '../../formats/fields/field-tables.ts';
import { namesOf, spellingsOf } from './spellings.ts';
import { RequestBody } from './body/request-body.ts';

const images = spellingsOf(imagesFields);
/** In both case conventions such a path has 2 ** 60 spellings. */
const deepPath = Array.from({ length: 60 }, (_, index) => `some_name${index}`);
const nested = (path: readonly string[]): unknown => path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), 1);
const check = (value: unknown): void =>
  namesOf([deepPath], imagesFields).check(RequestBody.read(Buffer.from(JSON.stringify(value)), 64));

describe('the spellings of a field', () => {
  it('are its key in both cases, where the API takes both', () => {
    expect(images.ofKey('image_size')).toEqual(['image_size', 'imageSize']);
    expect(images.ofKey('imageSize')).toEqual(['imageSize', 'image_size']);
    expect(spellingsOf(messagesFields).ofKey('max_tokens')).toEqual(['max_tokens']);
  });

  it('have the same synonyms', () => {
    const ofImages = [['sample_image_size'], ['extra_body', 'imageSize', 'inner'], ['extra_body', 'sample_image_size']];
    expect(images.synonymsOf(['imageSize', 'inner'])).toEqual(ofImages);
    expect(images.synonymsOf(['extra_body', 'image_size'])).toEqual([]);
  });

  it('are found in a body however deep the path is', () => {
    const mixed = deepPath.map((key, index) => (index % 2 ? key : key.replace('_n', 'N')));
    expect(() => check(nested(deepPath))).not.toThrow();
    expect(() => check(nested(mixed))).not.toThrow();
    expect(() => check(nested([...mixed.slice(0, -1), 'SOME_name59']))).toThrow('differs from');
  });
});
