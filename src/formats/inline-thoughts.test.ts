import { describe, expect, it } from 'vitest';
import { formats } from './index.ts';
import { clientContext, replyContext, replyWith } from './contexts.testkit.ts';
import { decodeAll } from './laws.testkit.ts';

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
  expect(replyWith(openai, events(model), client)).toMatchObject({ choices: [{ message: { content } }] });
  expect(contentOf(openai.encodeStream(client).push(streamed(model)))).toBe(content);
});

describe('thoughts without a flag', () => {
  const model = 'gemini-2.0-flash-thinking-exp-01-21';
  const record = (texts: readonly string[], more: object = {}): string => {
    const content = { parts: texts.map((text) => ({ text })) };
    return `data: ${JSON.stringify({ responseId: 'r', candidates: [{ content, ...more }] })}\r\n\r\n`;
  };
  const STOP = { finishReason: 'STOP' };
  const heard = (records: readonly string[], strict: boolean): string => {
    const decoded = decodeAll(
      gemini.decodeStream(replyContext({ model })),
      records.map((text) => Buffer.from(text)),
    );
    return contentOf(openai.encodeStream(clientContext({ strict })).push(decoded));
  };

  it.each([
    [false, 'Two and two.\r\n\r\nFour.'],
    [true, 'Four.'],
  ])('of a plain reply are told to a client (strict: %s) as %j', (strict, content) => {
    const reply = { candidates: [{ content: { parts: [{ text: 'Two and two.' }, { text: 'Four.' }] }, ...STOP }] };
    const events = gemini.decodeReply(reply, replyContext({ model }));
    expect(replyWith(openai, events, clientContext({ strict }))).toMatchObject({
      choices: [{ message: { content } }],
    });
  });

  it.each([
    [false, 'Two and two.\r\n\r\nFour.'],
    [true, 'Four.'],
  ])('of a stream end where two parts come together (strict: %s): %j', (strict, content) => {
    const records = [record(['Two']), record([' and']), record([' two.', 'Fo']), record(['ur.'], STOP)];
    expect(heard(records, strict)).toBe(content);
    expect(heard([record(['Two and two.', 'Four.'], STOP)], strict)).toBe(content);
  });

  it.each([false, true])('are none where a stream has single texts alone (strict: %s)', (strict) => {
    expect(heard([record(['Fo']), record(['ur.'], STOP)], strict)).toBe('Four.');
    const long = 'x'.repeat(600_000);
    expect(heard([record([long]), record([long]), record(['y'], STOP)], strict)).toBe(`${long}${long}y`);
  });
});
