import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { clientContext } from '../contexts.testkit.ts';
import { rechunk } from '../laws.testkit.ts';
import { openaiChat } from './index.ts';

const frame = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'deepseek' };
const chunk = (delta: JsonObject, rest: JsonObject = {}) => ({
  ...frame,
  choices: [{ index: 0, delta, finish_reason: null, ...rest }],
});
const line = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const finish = line(chunk({}, { finish_reason: 'stop' }));
const DONE = 'data: [DONE]\n\n';

const strict = clientContext({ strict: true });
const lax = clientContext({ strict: false });

function passed(text: string, client = strict, stream = true) {
  const reader = openaiChat.passThrough.open(client, stream);
  const pieces = [...rechunk(Buffer.from(text), 11).map((piece) => reader.push(piece)), reader.end()];
  return { left: Buffer.concat(pieces.filter((piece) => piece !== undefined)).toString(), signals: reader.signals };
}

const EXTENSIONS: readonly (readonly [string, JsonObject])[] = [
  ['reasoning_content', { reasoning_content: 'Hm' }],
  ['reasoning', { reasoning: 'Hm' }],
  ['reasoning_details', { reasoning_details: [{ text: 'Hm' }] }],
  ['content_blocks', { content_blocks: [{ index: 0, delta: { thinking: 'Hm' } }] }],
  ['content_parts', { content_parts: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] }],
];

describe('a strict client of an upstream that adds to OpenAI’s fields', () => {
  it.each(EXTENSIONS)('gets no %s of a stream, and all other fields', (_key, extra) => {
    const begun = chunk({ role: 'assistant', content: '' });
    const mixed = chunk({ content: 'Yes', ...extra }, { logprobs: null });
    const { left, signals } = passed(
      line(begun) + line(chunk(extra)) + line(mixed) + line(chunk({ content: '!' })) + finish + DONE,
    );
    expect(left).toBe(
      line(begun) + line(chunk({ content: 'Yes' }, { logprobs: null })) + line(chunk({ content: '!' })) + finish + DONE,
    );
    expect(signals).toMatchObject({ ended: true, content: true, finish: 'stop' });
  });

  it.each(EXTENSIONS)('gets no %s of a plain reply', (_key, extra) => {
    const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes', refusal: null } };
    const body = { id: 'c', choices: [choice] };
    const extended = { id: 'c', choices: [{ ...choice, message: { ...choice.message, ...extra } }] };
    expect(JSON.parse(passed(JSON.stringify(extended), strict, false).left)).toEqual(body);
    expect(JSON.parse(passed(JSON.stringify(extended), lax, false).left)).toEqual(extended);
  });

  it('gets calls without the signatures on them', () => {
    const call = { index: 0, id: 'a', type: 'function' };
    const signed = {
      ...call,
      extra_content: { google: { thought_signature: 'cw==' } },
      function: { name: 'f', arguments: '', thought_signature: 'cw==' },
    };
    const { left } = passed(line(chunk({ tool_calls: [signed] })) + finish + DONE);
    expect(left).toBe(
      line(chunk({ tool_calls: [{ ...call, function: { name: 'f', arguments: '' } }] })) + finish + DONE,
    );
  });

  it('gets no usage of a rewritten chunk without a request for usage', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const text = line({ ...chunk({ content: 'a', reasoning: 'b' }), usage }) + finish + DONE;
    expect(passed(text, clientContext({ includeUsage: false })).left).toBe(
      line(chunk({ content: 'a' })) + finish + DONE,
    );
    expect(passed(text, clientContext({ includeUsage: true })).left).toContain('"prompt_tokens":1');
  });

  it.each([
    ['says that it has none', line(chunk({ content: 'a', reasoning_content: null, reasoning: null }))],
    ['only talks of them', line(chunk({ content: '"reasoning_content":"x"' }))],
    [
      'has arguments of that name',
      line(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"reasoning":1}' } }] })),
    ],
    ['has them elsewhere', line(chunk({ content: 'a' }, { details: { reasoning: 'of the filter' } }))],
  ])('gets the same bytes of a chunk that %s', (_title, text) => {
    const whole = line(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] })) + text + finish + DONE;
    expect(passed(whole).left).toBe(whole);
  });
});

it('keeps the extensions for a client that is not strict', () => {
  const text = line(chunk({ reasoning_content: 'Hm' })) + line(chunk({ content: 'Yes' })) + finish + DONE;
  expect(passed(text, lax).left).toBe(text);
});
