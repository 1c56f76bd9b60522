import { expect, it } from 'vitest';
import { countTokens, messages } from '../operations/messages.ts';
import { chatCompletions } from '../operations/openai.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import { RequestBody, type Operation, type ResolvedTarget } from '../kernel/index.ts';
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

it('A format without pass-through has its requests and replies written anew, also for a target of the same format', () => {
  const { passThrough: _, ...bare } = openaiChat;
  const resolved: ResolvedTarget = { ...gemini, format: 'openai-chat', model: 'gpt-x' };
  const text = '{ "model": "m", "messages": [{ "role": "user", "content": "hi" }] }';
  const answer =
    '{ "id": "a", "model": "m", "choices": [{ "index": 0, "message": { "role": "assistant", "content": "Hello" } }] }';
  const [kept, written] = [chatCompletions, { ...chatCompletions, format: bare }].map((operation) => {
    const exchange = createExchange({ operation });
    const attempt = createAttempt(exchange, { body: RequestBody.read(Buffer.from(text), 64), resolved });
    const { outbound } = translator.prepare(exchange, attempt, resolved);
    const reader = outbound.openReader({ status: 200, headers: { 'content-type': 'application/json' } });
    const pieces = [reader.push(Buffer.from(answer)), reader.end()];
    return {
      request: outbound.body.toString(),
      reply: Buffer.concat(pieces.filter((piece) => piece !== undefined)).toString(),
    };
  });
  expect(kept).toEqual({ request: text.replace('"m"', '"gpt-x"'), reply: answer });
  expect(written?.request).toBe('{"model":"gpt-x","messages":[{"role":"user","content":"hi"}]}');
  expect(JSON.parse(written?.reply ?? '')).toMatchObject({
    object: 'chat.completion',
    choices: [{ message: { content: 'Hello' } }],
  });
});
