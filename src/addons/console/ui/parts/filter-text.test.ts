import { describe, expect, it } from 'vitest';
import { completions, filterText, parseFilter } from './filter-text.ts';

describe('a filter', () => {
  it.each([
    ['key:search status:5xx', 'key=search&status=5xx'],
    ['label.app:"two words" overloaded', 'label.app=two+words&q=overloaded'],
    ['key:a key:b', 'key=a&key=b'],
    ['http://x:8080 nope:1', 'q=http%3A%2F%2Fx%3A8080+nope%3A1'],
    ['', ''],
  ])('%j is the query %j, and back', (text, query) => {
    expect(parseFilter(text).toString()).toBe(query);
    expect(parseFilter(filterText(parseFilter(text))).toString()).toBe(query);
  });

  it('leaves members of the address alone that are no filter', () =>
    expect(filterText(new URLSearchParams('state=failed&key=a&row=7'))).toBe('key:a'));
});

describe('completions', () => {
  const known = { key: new Set(['search', 'batch', 'two words']), 'label.app': new Set(['web']) };
  const shown = (text: string, caret = text.length) => completions(text, caret, known).map((one) => one.text);

  it('offer names, then the values that were seen', () => {
    expect(shown('ke')).toEqual(['key:']);
    expect(shown('lab')).toEqual(['label.app:']);
    expect(shown('status:5xx key:s')).toEqual(['status:5xx key:search ', 'status:5xx key:"two words" ']);
  });

  it('keep what stands behind the caret', () => expect(shown('key:b model:x', 5)).toEqual(['key:batch  model:x']));
});
