import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { toBytes } from '../json/literal.ts';
import { TextFrame, TextRun } from './text-run.ts';

const HEAD = '"item_id":"msg_1","output_index":0,"content_index":0';

/** The same without a frame. */
const plain = (number: number, literal: string): string =>
  `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${number},${HEAD},"delta":"${literal}","logprobs":[]}\n\n`;

it('runs of texts are events with their numbers, wherever the number becomes longer', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 80 }), { minLength: 1, maxLength: 120 });
  const literals = texts.map((all) => all.map((text) => toBytes(JSON.stringify(text).slice(1, -1))));
  // Other events may come between two runs, and a run may be written before or after the next one is made.
  const run = fc.record({ literals, skipped: fc.nat({ max: 3 }) });
  fc.assert(
    fc.property(fc.nat({ max: 1005 }), fc.array(run, { minLength: 1, maxLength: 4 }), (start, runs) => {
      const frame = new TextFrame(HEAD, start);
      let number = start;
      const made = runs.map(({ literals, skipped }) => {
        const from = (number += skipped);
        number += literals.length;
        return {
          run: new TextRun(frame, from, literals),
          text: literals.map((one, at) => plain(from + at, one)).join(''),
        };
      });
      for (const { run, text } of made) {
        const bytes = Buffer.alloc(run.length);
        expect(run.write(bytes, 0)).toBe(run.length);
        expect(bytes.toString('latin1')).toBe(text);
      }
    }),
    { numRuns: 300 },
  );
});
