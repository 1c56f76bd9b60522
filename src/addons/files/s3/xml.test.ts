import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elementsOf, rootOf, textOf } from './xml.ts';

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&#62;').replaceAll('"', '&#x22;');

describe('the XML of S3', () => {
  it('gives back every text that was written into it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
        const xml = `<R>${texts.map((text) => `<Item><Key>${escape(text)}</Key></Item>`).join('\n')}</R>`;
        expect([...elementsOf(xml, 'Item')].map((item) => textOf(item, 'Key'))).toEqual(texts);
      }),
    );
  });

  it.each([
    ['<?xml version="1.0" encoding="UTF-8"?>\n   \n<Error><Code>SlowDown</Code></Error>', 'Error'],
    ['   <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></ListBucketResult>', 'ListBucketResult'],
    ['<!DOCTYPE html><html></html>', undefined],
    ['{"error":"x"}', undefined],
    ['', undefined],
    [' '.repeat(60_000), undefined],
    [`<?xml ${'a'.repeat(60_000)}`, undefined],
    [`<${'a'.repeat(60_000)}>`, undefined],
  ])('tells what a reply is', (xml, root) => {
    expect(rootOf(xml)).toBe(root);
  });

  it.each([
    ['no element of the name', '<A></A>', undefined],
    ['one that does not end', '<Key>x', undefined],
    ['an end alone', '</Key>', undefined],
    ['one in itself', '<Key><Key>x</Key></Key>', '<Key>x'],
    [
      'references without an end, and unknown ones',
      '<Key>&amp &nope; &#9999999; &#xfffffff;</Key>',
      '&amp &nope; &#9999999; &#xfffffff;',
    ],
    ['references in references', '<Key>&amp;lt;</Key>', '&lt;'],
    ['a surrogate by number', '<Key>&#xd800;</Key>', '\ud800'],
  ])('with %s gives what is there', (_, xml, text) => {
    expect(textOf(xml, 'Key')).toBe(text);
  });

  it('is searched once, whatever its shape', () => {
    // A search that began anew for each of them would take minutes.
    const many = 400_000;
    expect([...elementsOf('<Contents>'.repeat(many), 'Contents')]).toHaveLength(0);
    expect([...elementsOf(`${'<Contents>'.repeat(many)}</Contents>`, 'Contents')]).toHaveLength(1);
    expect([...elementsOf('<Contents></Contents>'.repeat(many), 'Contents')]).toHaveLength(many);
    expect(textOf(`<Key>${'&amp'.repeat(many)}</Key>`, 'Key')).toHaveLength(4 * many);
  });
});
