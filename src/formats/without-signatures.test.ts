import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import type { BodyView } from './body-view.ts';
import { formats } from './index.ts';
import { deepFreeze } from './contexts.testkit.ts';

const viewOf = (body: JsonObject): BodyView => ({ has: (key) => key in body, value: (key) => body[key] });

/** The fields that the edits change, and the losses. */
function without(format: FormatName, body: JsonObject, model = 'm') {
  const cleaning = formats[format].withoutSignatures!(viewOf(deepFreeze(body)), { model });
  if (!cleaning) return undefined;
  const edited = Object.fromEntries(cleaning.edits.map(({ path, value }) => [path.join('.'), value]));
  return { edited, lost: cleaning.losses.map(({ param }) => param) };
}

const hi = { role: 'user', content: 'hi' };
const thought = { type: 'thinking', thinking: 'Hm', signature: 's' };
const use = { type: 'tool_use', id: 'c', name: 'f', input: {} };
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x' }] };
const enabled = { type: 'enabled', budget_tokens: 1024 };

describe('a body for Claude without signatures', () => {
  it('has no thinking, and no message that held nothing else', () => {
    const messages = [
      hi,
      { role: 'assistant', content: [thought, { type: 'text', text: 'a' }] },
      hi,
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }] },
      hi,
    ];
    expect(without('anthropic-messages', { messages, thinking: enabled })).toEqual({
      edited: { messages: [hi, { role: 'assistant', content: [{ type: 'text', text: 'a' }] }, hi, hi] },
      lost: ['messages[1].content[0]', 'messages[3].content[0]'],
    });
  });

  it('has no manual thinking where an open tool loop has lost its own', () => {
    const messages = [hi, { role: 'assistant', content: [thought, use] }, result];
    const kept = [hi, { role: 'assistant', content: [use] }, result];
    expect(without('anthropic-messages', { messages, thinking: enabled })).toEqual({
      edited: { messages: kept, thinking: undefined },
      lost: ['messages[1].content[0]', 'thinking'],
    });
    const adaptive = { messages, thinking: { type: 'adaptive' } };
    expect(without('anthropic-messages', adaptive)?.edited).toEqual({ messages: kept });
  });

  it('is none where nothing is signed', () => {
    expect(without('anthropic-messages', { messages: [hi, { role: 'assistant', content: 'a' }, hi] })).toBeUndefined();
    expect(without('anthropic-messages', {})).toBeUndefined();
  });
});

describe('a body for Gemini without signatures', () => {
  const user = { role: 'user', parts: [{ text: 'hi' }] };
  const call = (name: string, more: JsonObject = {}) => ({ functionCall: { name, args: {} }, ...more });
  const SKIP = { thoughtSignature: 'skip_thought_signature_validator' };
  const contents = [
    user,
    {
      role: 'model',
      parts: [
        { thought: true, text: '', thoughtSignature: 's' },
        { text: 'a', thought_signature: 's' },
        call('f', { thoughtSignature: 's' }),
        call('g', { thoughtSignature: 's' }),
      ],
    },
    { role: 'model', parts: [{ text: '', thoughtSignature: 's' }] },
    user,
  ];

  it('has the escape value on the first call of a turn of Gemini 3', () => {
    expect(without('gemini', { contents }, 'gemini-3-pro-preview')).toEqual({
      edited: { contents: [user, { role: 'model', parts: [{ text: 'a' }, call('f', SKIP), call('g')] }, user] },
      lost: ['contents[1].parts[].thoughtSignature', 'contents[2].parts[].thoughtSignature'],
    });
  });

  it('has no escape value for Gemini 2.5', () => {
    expect(without('gemini', { contents }, 'gemini-2.5-pro')?.edited).toEqual({
      contents: [user, { role: 'model', parts: [{ text: 'a' }, call('f'), call('g')] }, user],
    });
  });

  it('is none where nothing but the escape value is a signature', () => {
    expect(without('gemini', { contents: [user, { role: 'model', parts: [call('f', SKIP)] }] })).toBeUndefined();
    expect(without('gemini', {})).toBeUndefined();
  });
});

describe('a body of OpenAI’s API without signatures', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };

  it('has no extension that carries one', () => {
    const signed = {
      ...call,
      function: { ...call.function, thought_signature: 's' },
      extra_content: { google: { thought_signature: 's' } },
    };
    const assistant = {
      role: 'assistant',
      content: 'a',
      content_blocks: [thought],
      reasoning_details: [{ data: 'x' }],
    };
    expect(without('openai-chat', { messages: [hi, { ...assistant, tool_calls: [signed, call] }] })).toEqual({
      edited: { messages: [hi, { role: 'assistant', content: 'a', tool_calls: [call, call] }] },
      lost: ['messages[1]'],
    });
  });

  it('is none where no message has such an extension', () => {
    const assistant = { role: 'assistant', content: null, tool_calls: [call] };
    expect(without('openai-chat', { messages: [hi, assistant] })).toBeUndefined();
    expect(without('openai-chat', {})).toBeUndefined();
  });
});
