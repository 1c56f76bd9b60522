import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { openaiResponses } from '../../../../formats/openai-responses/index.ts';
import { clientContext } from '../../../../formats/contexts.testkit.ts';
import { lastResponse } from './kept-body.ts';
import { runs } from '../../../../../test/support/effort.ts';

it('the last response of events that the gateway has written is found', () => {
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
      expect(lastResponse(Buffer.from(begun))).toBeUndefined();
      const last = lastResponse(Buffer.from(begun + (rest ?? '')));
      expect(lastResponse(Buffer.from(rest ?? ''))).toEqual(last);
      expect(last === undefined).toBe(reason === undefined);
      // The gateway's own JSON.
      if (last) expect((JSON.parse(last.toString()) as { id: string }).id).toBe('resp_1');
    }),
    { numRuns: runs(300) },
  );
});
