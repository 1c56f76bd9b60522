import { expect, it } from 'vitest';
import { fieldsText } from './words.ts';

it.each([
  [{ vendorObjects: undefined }, 'all fields'],
  [
    { vendorObjects: [] },
    "all fields; no ids of the vendor's objects without the caller's own token; media of no bucket",
  ],
  [
    { vendorObjects: ['files', 'caches'] },
    "all fields; no ids of the vendor's objects but files and caches without the caller's own token",
  ],
] as const)('the fields of %j are described', (fields, text) => {
  expect(fieldsText(fields)).toBe(text);
});
