import { expect, it } from 'vitest';
import { parseDuration, parseSeconds, readMoment } from './units.ts';

it.each([
  ['2027-01-01', '2027-01-01T00:00:00.000Z'],
  ['2027-01-01T12:30Z', '2027-01-01T12:30:00.000Z'],
  ['2028-02-29T23:59:59.5+02:00', '2028-02-29T21:59:59.500Z'],
])('%s is a moment', (text, iso) => {
  expect(new Date(readMoment(text)!).toISOString()).toBe(iso);
});

it.each([
  '',
  '5',
  '2027',
  '5 May 2027',
  'noon',
  '2027-02-30',
  '2027-13-01',
  '2027-01-01T25:00:00Z',
  '2027-01-01T12:00:00',
])('%j is none', (text) => {
  expect(readMoment(text)).toBeUndefined();
});

it('a time without a unit counts milliseconds or seconds, as its setting says; with a unit both are the same', () => {
  expect([parseDuration(300), parseSeconds(300)]).toEqual([300, 300_000]);
  for (const text of ['90s', '5m', '2h']) expect(parseSeconds(text)).toBe(parseDuration(text));
});
