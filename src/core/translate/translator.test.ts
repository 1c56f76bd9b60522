import { expect, it } from 'vitest';
import { countTokens } from '../operations/count-tokens.ts';
import { messages } from '../operations/messages.ts';
import { RequestBody, type Operation, type ResolvedTarget } from '../../plugin/index.ts';
import { createAttempt, createExchange, createFakeClock } from '../../plugin/testing/index.ts';
import { createTranslator } from './translator.ts';

const translator = createTranslator(createFakeClock());

const gemini: ResolvedTarget = {
  slug: 'google',
  provider: 'google',
  semconvName: 'google',
  modelLabel: 'gemini-3-pro',
  model: 'gemini-3-pro',
  origin: 'https://upstream.example',
  path: '/v1beta',
  format: 'gemini',
  headers: {},
  host: 'direct',
  timeouts: {},
};

/** How often the loop can serve others while a large body of the operation is written for Gemini. */
function stepsOf(operation: Operation): number {
  const body = RequestBody.read(
    Buffer.from(JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] })),
    64,
  );
  const exchange = createExchange({ operation });
  const steps = translator.prepareInSteps(exchange, createAttempt(exchange, { body, resolved: gemini }), gemini);
  let count = 0;
  while (!steps.next().done) count += 1;
  return count;
}

it('A count of tokens is translated in as many steps as a message', () => {
  expect(stepsOf(messages)).toBeGreaterThan(4);
  expect(stepsOf(countTokens)).toBe(stepsOf(messages));
});
