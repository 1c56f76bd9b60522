import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ERRORS } from '../../src/plugin/error-codes.ts';
import { anchorsOf } from '../support/doc-links.ts';
import { PAGE, withCodes } from './errors-table.ts';

const page = readFileSync(PAGE, 'utf8');

it('docs/reference/errors.md has the codes as the code has them', () => {
  expect(withCodes(page)).toBe(page);
});

it('every error code is an anchor of docs/reference/errors.md', () => {
  const anchors = new Set(anchorsOf(page));
  expect(Object.keys(ERRORS).filter((code) => !anchors.has(code))).toEqual([]);
});
