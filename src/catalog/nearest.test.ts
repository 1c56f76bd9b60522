import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const SLUGS = ['@vertex-prod', '@vertex-test', '@claude', '@sim'];

test.each([
  ['@vertx-prod', '@vertex-prod'],
  ['@vertex-prdo', '@vertex-prod'],
  ['@VERTEX-TEST', '@vertex-test'],
  ['@claud', '@claude'],
  ['@clade', '@claude'],
  ['@something-else-entirely', undefined],
  ['@x', undefined],
  ['', undefined],
  ['y'.repeat(1_000_000), undefined],
])('nearest to %j', (text, suggestion) => {
  expect(nearest(text, SLUGS)).toBe(suggestion);
});
