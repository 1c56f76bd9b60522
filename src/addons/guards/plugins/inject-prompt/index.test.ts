import { describe, expect, it } from 'vitest';
import type { FormatName } from '../../../../formats/conversation.ts';
import { injectedPrompt } from './injected-prompt.ts';

const chat = (content: unknown) => ({
  messages: [
    { role: 'system', content },
    { role: 'user', content: 'hi' },
  ],
});
const hi = { role: 'user', content: 'hi' };

describe('a text for the system prompt', () => {
  it.each<[string, FormatName, object, object]>([
    ['chat', 'openai-chat', chat('Own.'), { path: ['messages', '0', 'content'], value: 'X.\n\nOwn.' }],
    [
      'chat with parts',
      'openai-chat',
      chat([{ type: 'text', text: 'Own.' }]),
      {
        path: ['messages', '0', 'content'],
        value: [
          { type: 'text', text: 'X.' },
          { type: 'text', text: 'Own.' },
        ],
      },
    ],
    [
      'chat without one',
      'openai-chat',
      { messages: [hi] },
      { path: ['messages'], value: [{ role: 'system', content: 'X.' }, hi] },
    ],
    ['Messages', 'anthropic-messages', { system: 'Own.', messages: [hi] }, { path: ['system'], value: 'X.\n\nOwn.' }],
    ['Messages without one', 'anthropic-messages', { messages: [hi] }, { path: ['system'], value: 'X.' }],
    ['Responses', 'openai-responses', { input: 'hi' }, { path: ['instructions'], value: 'X.' }],
    [
      'Gemini',
      'gemini',
      { system_instruction: { parts: [{ text: 'Own.' }] } },
      { path: ['system_instruction'], value: { parts: [{ text: 'X.' }, { text: 'Own.' }] } },
    ],
    ...[{ parts: { text: 'Own.' } }, 'Own.'].map((systemInstruction): [string, FormatName, object, object] => [
      'Gemini in the short forms of ProtoJSON',
      'gemini',
      { systemInstruction },
      { path: ['systemInstruction'], value: { parts: [{ text: 'X.' }, { text: 'Own.' }] } },
    ]),
    [
      'Gemini without one',
      'gemini',
      { contents: [] },
      { path: ['systemInstruction'], value: { parts: [{ text: 'X.' }] } },
    ],
  ])('goes into that of %s', (_, format, body, change) => {
    expect(injectedPrompt({ ...body }, { format, text: 'X.', place: 'before' })).toEqual(change);
  });

  it('goes behind it where the settings say so', () => {
    const at = { format: 'openai-chat', text: 'X.', place: 'after' } as const;
    expect(injectedPrompt(chat('Own.'), at)).toMatchObject({ value: 'Own.\n\nX.' });
  });

  it.each<[FormatName, object]>([
    ['openai-chat', chat('X.\n\nOwn.')],
    ['openai-chat', chat([{ type: 'text', text: 'X.' }])],
    ['anthropic-messages', { system: 'X.' }],
    ['gemini', { systemInstruction: { parts: [{ text: 'X.' }] } }],
  ])('is put there once: %s', (format, body) => {
    expect(injectedPrompt({ ...body }, { format, text: 'X.', place: 'before' })).toBeUndefined();
  });

  it('is put there once when it has an empty line', () => {
    const at = { format: 'openai-chat', text: 'X.\n\nY.', place: 'before' } as const;
    for (const own of ['X.\n\nY.', 'X.\n\nY.\n\nOwn.']) expect(injectedPrompt(chat(own), at)).toBeUndefined();
  });
});
