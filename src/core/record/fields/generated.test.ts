import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/effort.ts';
import type { BoundedRecord } from '../bounded-record.ts';
import { anyRecord } from '../records.testkit.ts';
import { lineOf } from './line.generated.ts';
import { REQUEST_FIELDS } from './request-fields.ts';
import { membersOf, storedOf } from './tables.testkit.ts';
import { valuesOf } from './values.generated.ts';

/** Of requests under way, too, and with numbers that JSON does not have. */
const record: fc.Arbitrary<BoundedRecord> = fc
  .tuple(anyRecord, fc.constantFrom({}, { state: 'running' }, { durationMs: NaN }, { receivedAt: Infinity }))
  .map(([one, changed]) => ({ ...one, ...changed }));

const always = (property: (of: BoundedRecord) => void): void =>
  fc.assert(fc.property(record, property), { numRuns: runs(400) });

describe('the code that is generated from the tables of fields', () => {
  it('writes the access line that the tables say, for any record, also after others', () => {
    always((of) => {
      const plain = ['', ...membersOf(REQUEST_FIELDS, of)].join(',');
      expect(lineOf('', of)).toBe(plain);
      expect(lineOf('', of)).toBe(plain);
    });
  });

  it('makes the stored record that the tables say, its fields in their order', () => {
    always((of) => {
      const stored = valuesOf(of);
      expect(stored).toEqual(storedOf(REQUEST_FIELDS, of));
      expect(JSON.stringify(stored)).toBe(JSON.stringify(storedOf(REQUEST_FIELDS, of)));
    });
  });
});
