import { ALL, assistant, GEMINIS } from './anthropic.ts';
import { hi, text, user, type Cases } from './case.ts';

const hello = { role: 'assistant', content: 'Hello.' } as const;

/** Turns of text (docs/protocols/anthropic-messages.md#turns, docs/protocols/messages-route.md#system-prompt). */
export const anthropicTurns: Cases = {
  'bare-question': { title: 'a bare question', request: {}, ...ALL },
  'system-string': { title: 'a system prompt', request: { system: 'Be brief.' }, ...ALL },
  'system-blocks': {
    title: 'a system prompt of several blocks keeps all of them',
    request: { system: [text('One.'), text('Two.')] },
    ...ALL,
  },
  'system-empty': { title: 'a system prompt without a word is none', request: { system: '' } },
  'system-for-gemma': {
    title: 'a system prompt for a model without a system field',
    request: { system: 'Be brief.' },
    gemini: ['gemma-3-27b-it'],
    openai: [],
  },
  'system-turn': {
    title: 'a system turn in the middle of a conversation',
    request: { messages: [hi, hello, { role: 'system', content: 'Be brief.' }, hi] },
    ...ALL,
  },
  'system-both': {
    title: 'a system prompt, and a system turn later',
    request: { system: 'One.', messages: [hi, hello, { role: 'system', content: [text('Two.')] }, hi] },
  },
  'text-blocks': {
    title: 'a user turn of several texts',
    request: { messages: [user(text('One.'), text('Two.'))] },
    ...ALL,
  },
  'empty-texts': {
    title: 'empty texts beside a full one',
    request: { messages: [user(text(''), text('One.')), assistant(text('')), user(text('Two.'))] },
    ...ALL,
  },
  'empty-content': {
    title: 'a turn of no blocks',
    request: { messages: [hi, { role: 'assistant', content: [] }, hi] },
  },
  'user-neighbours': {
    title: 'two user turns in a row are one for the model',
    request: { messages: [hi, { role: 'user', content: 'Anyone?' }] },
  },
  'assistant-texts': {
    title: 'an assistant turn of several texts',
    request: { messages: [hi, assistant(text('One.'), text('Two.')), hi] },
  },
  'assistant-first': { title: 'a conversation the assistant begins', request: { messages: [hello, hi] } },
  prefill: {
    title: 'an answer the caller has begun',
    request: { messages: [hi, { role: 'assistant', content: 'The weather is ' }] },
    ...GEMINIS,
  },
  'role-unknown': { title: 'a turn of an unknown role', request: { messages: [{ role: 'narrator', content: 'hi' }] } },
};
