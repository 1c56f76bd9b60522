import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/effort.ts';
import type { BoundedRecord } from '../bounded-record.ts';
import { anyRecord } from '../records.testkit.ts';
import { ATTEMPT_FIELDS } from './attempt-fields.ts';
import { lineOf } from './line.generated.ts';
import { REQUEST_FIELDS } from './request-fields.ts';
import {
  ADDRESS_FIELDS,
  CALL_FIELDS,
  EARLIER_FIELDS,
  INFERENCE_FIELDS,
  PLACE_FIELDS,
  RESEND_FIELDS,
  SERVER_FIELDS,
  TRY_FIELDS,
} from './span-fields.ts';
import { spanAttributes } from './spans.generated.ts';
import { attributesOf, membersOf, storedOf } from './tables.testkit.ts';
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

  it('makes the attributes of spans that the tables say, in their order', () => {
    const entries = Object.entries;
    always((of) => {
      expect(entries(spanAttributes.server(of))).toEqual(entries(attributesOf(SERVER_FIELDS, of)));
      expect(entries(spanAttributes.inference(of))).toEqual(entries(attributesOf(INFERENCE_FIELDS, of)));
      for (const attempt of of.attempts) {
        expect(entries(spanAttributes.attempt(attempt))).toEqual(entries(attributesOf(ATTEMPT_FIELDS, attempt)));
        expect(entries(spanAttributes.earlier(attempt))).toEqual(entries(attributesOf(EARLIER_FIELDS, attempt)));
        if (attempt.place)
          expect(entries(spanAttributes.place(attempt.place))).toEqual(
            entries(attributesOf(PLACE_FIELDS, attempt.place)),
          );
        for (const one of attempt.tries)
          expect(entries(spanAttributes.tried(one))).toEqual(entries(attributesOf(TRY_FIELDS, one)));
      }
    });
    for (const url of ['https://api.openai.com/v1/x', 'http://127.0.0.1:8080/v1/y']) {
      expect(entries(spanAttributes.address(url))).toEqual(entries(attributesOf(ADDRESS_FIELDS, url)));
      expect(entries(spanAttributes.call(url))).toEqual(entries(attributesOf(CALL_FIELDS, url)));
    }
    for (const count of [0, 1, 2])
      expect(entries(spanAttributes.resent(count))).toEqual(entries(attributesOf(RESEND_FIELDS, count)));
  });
});
