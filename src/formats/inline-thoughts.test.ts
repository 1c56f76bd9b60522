import { expect, it } from 'vitest';
import { formats } from './index.ts';
import { clientContext, decodeAll, replyContext } from './laws.testkit.ts';

/** Models whose clients split the chain of thought from the answer at an empty line (docs/protocols/replies.md#inline-thoughts). */
const gemini = formats.gemini;
const openai = formats['openai-chat'];
const parts = [{ text: 'Two and two.', thought: true }, { text: 'Four.' }];
const body = { responseId: 'r', candidates: [{ content: { parts }, finishReason: 'STOP' }] };

const events = (model: string) => gemini.decodeReply(body, replyContext({ model }));
const streamed = (model: string) =>
  decodeAll(gemini.decodeStream(replyContext({ model })), [Buffer.from(`data: ${JSON.stringify(body)}\r\n\r\n`)]);

const contentOf = (text: string): string =>
  text
    .split('\n\n')
    .filter((record) => record.startsWith('data: {'))
    .map((record) => JSON.parse(record.slice(6)) as { choices: { delta: { content?: string } }[] })
    .map(({ choices }) => choices[0]?.delta.content ?? '')
    .join('');

it.each([
  ['gemini-2.0-flash-thinking-exp-1219', false, 'Two and two.\r\n\r\nFour.'],
  ['gemini-2.0-flash-thinking-exp-1219', true, 'Four.'],
  ['gemini-2.5-pro', false, 'Four.'],
  ['gemini-2.5-pro', true, 'Four.'],
])('%s tells a client (strict: %s) %j', (model, strict, content) => {
  const client = clientContext({ strict });
  expect(openai.encodeReply(events(model), client)).toMatchObject({ choices: [{ message: { content } }] });
  expect(contentOf(openai.encodeStream(client).push(streamed(model)))).toBe(content);
});
