import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/effort.ts';
import type { BoundedRecord } from '../../../core/record/bounded-record.ts';
import { ATTEMPT_FIELDS } from '../../../core/record/fields/attempt-fields.ts';
import { attributesOf } from '../../../core/record/fields/tables.testkit.ts';
import { anyRecord } from '../../../core/record/records.testkit.ts';
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

const always = (property: (of: BoundedRecord) => void): void =>
  fc.assert(fc.property(anyRecord, property), { numRuns: runs(400) });

describe('the code that is generated from the tables of span attributes', () => {
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
