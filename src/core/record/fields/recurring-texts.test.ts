import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecurringTexts } from './recurring-texts.ts';

describe('recurring texts', () => {
  it('are what their function makes of them, for any texts in any order', () => {
    const texts = new RecurringTexts((text) => `<${text}>`);
    const text = fc.oneof(
      fc.nat(2000).map(String),
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom('\ud800', '\ufffd', 'x'.repeat(300), 'x'.repeat(301)),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 1000, size: 'max' }), (all) =>
        all.every((one) => texts.of(one) === `<${one}>`),
      ),
      { numRuns: 20 },
    );
  });

  it('are written once while they recur, and again when 512 others have come between', () => {
    const written: string[] = [];
    const texts = new RecurringTexts((text) => (written.push(text), text));
    texts.of('recurs');
    for (let index = 0; index < 2000; index += 1) {
      texts.of(`${index}`);
      texts.of('recurs');
    }
    expect(written.filter((text) => text === 'recurs')).toHaveLength(1);
    texts.of('once');
    for (let index = 0; index < 512; index += 1) texts.of(`other ${index}`);
    texts.of('once');
    expect(written.filter((text) => text === 'once')).toHaveLength(2);
  });

  it('do not remember a long text, or one that a copy changes', () => {
    const written: string[] = [];
    const texts = new RecurringTexts((text) => (written.push(text), text));
    for (const text of ['x'.repeat(301), '\ud800'])
      for (let time = 0; time < 2; time += 1) expect(texts.of(text)).toBe(text);
    expect(written).toHaveLength(4);
  });
});
