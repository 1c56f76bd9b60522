import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { openaiResponses } from '../../../../formats/openai-responses/index.ts';
import { clientContext } from '../../../../formats/contexts.testkit.ts';
import { lastResponse, lastWritten } from './kept-body.ts';
import { runs } from '../../../../../test/support/effort.ts';

it('the last response of events that the gateway has written is found as in any events', () => {
  const words = fc.constantFrom('hi', '"response":{', '\n\ndata: {"type":"response.completed"', 'é🙂', '}');
  const fields = fc.record(
    { metadata: fc.dictionary(fc.constantFrom('response', 'type', 'a'), words), instructions: words },
    { requiredKeys: [] },
  );
  const finish = fc.constantFrom('stop', 'length', undefined);
  fc.assert(
    fc.property(fc.array(words, { maxLength: 5 }), fields, finish, (texts, echoed, reason) => {
      const context = clientContext({ id: 'resp_1', echo: { fields: echoed, tools: new Map() } });
      const encoder = openaiResponses.encodeStream(context);
      const begun = encoder.push([
        { type: 'start' },
        ...texts.map((text) => ({ type: 'text', choice: 0, block: 0, text }) as const),
      ]);
      const rest = reason && encoder.push([{ type: 'finish', choice: 0, reason }, { type: 'end' }]);
      for (const text of [begun, rest ?? '', begun + (rest ?? '')]) {
        const bytes = Buffer.from(text);
        expect(lastWritten(bytes)).toEqual(lastResponse(bytes));
      }
      expect(lastWritten(Buffer.from(rest ?? '')) !== undefined).toBe(reason !== undefined);
    }),
    { numRuns: runs(300) },
  );
});
