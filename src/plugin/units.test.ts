import { expect, it } from 'vitest';
import { readMoment } from './units.ts';

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
