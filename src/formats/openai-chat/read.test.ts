import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../contexts.testkit.ts';
import { compact } from '../json/object.ts';

describe('compact', () => {
  it('keeps every field that has a value, null among them, in its order', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.option(fc.jsonValue(), { nil: undefined })), (fields) => {
        const said = Object.entries(fields).filter(([, value]) => value !== undefined);
        expect(Object.entries(compact(deepFreeze(fields)))).toEqual(said);
      }),
    );
  });

  it('keeps a field named __proto__ a field', () => {
    const kept = compact(JSON.parse('{"__proto__":{"polluted":true},"a":1}') as object);
    expect(Object.keys(kept)).toEqual(['__proto__', 'a']);
    expect(kept).not.toHaveProperty('polluted');
  });
});
