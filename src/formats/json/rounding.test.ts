import { expect, it } from 'vitest';
import { losesDigits, parseReplyText } from './rounding.ts';

it.each([
  ['{"id":12345678901234567891}', true],
  ['{"a":[-12345678901234567891]}', true],
  ['{"id":12345678901234567}', true],
  ['12345678901234567', true],
  ['{"id":9007199254740991}', false],
  ['{"id":12345678901234568}', false],
  ['{"id":1000000000000000000000}', false],
  ['{"id":"12345678901234567891"}', false],
  ['{"text":"card 12345678901234567891"}', false],
  ['{"text":"12345678901234567891","n":1}', false],
  ['{"a":null}', false],
])('parsing %s loses digits: %j', (text, lost) => {
  expect(losesDigits(text, JSON.parse(text))).toBe(lost);
});

it('a number too long for any double loses its digits', () => {
  const text = `[1${'0'.repeat(400)}]`;
  expect(losesDigits(text, JSON.parse(text))).toBe(true);
});

it('a deep or long text neither overflows the stack nor takes long', () => {
  const deep = `${'['.repeat(5000)}12345678901234567891${']'.repeat(5000)}`;
  expect(losesDigits(deep, JSON.parse(deep))).toBe(true);
  const long = `{"a":" ${'1'.repeat(1_000_000)}"}`;
  expect(losesDigits(long, JSON.parse(long))).toBe(false);
  const longest = `{"a":${'1'.repeat(16_000_000)}}`;
  expect(losesDigits(longest, JSON.parse(longest))).toBe(true);
});

it.each([
  '{"id":1234567890123456789,"n":1,"list":[-12345678901234567891,null,true]}',
  '{"text":"12345678901234567891","n":1.5}',
  '{"text":"ids: 12345678901234567891, 1","n":[12345678901234567]}',
])('a reply keeps every digit: %s', (text) => {
  expect(JSON.stringify(parseReplyText(text))).toBe(text);
});

it('numbers that keep their digits stay numbers', () => {
  const text = '{"a":9007199254740991,"b":12345678901234568,"c":1000000000000000000000,"d":0.12345678901234567}';
  expect(parseReplyText(text)).toEqual(JSON.parse(text));
});
