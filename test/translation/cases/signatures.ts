import { call, calls, type Cases, hi, result, text, weather } from './case.ts';

/** Signatures in the forms of Claude and Google, as recorded: protobuf that begins with a version, and with 01. */
export const CLAUDES = 'Eg4KDAgBGAIiAwECAwQFBg==';
export const GOOGLES = 'Ej4KPAEDChEYHyYtNDtCSVBXXmVsc3qBiI+WnaSrsrnAx87V3OPq8fj/Bg0UGyIpMDc+RUxTWmFob3Z9hIuSmQ==';
/** The same as the id of a call can hold it: base64url without padding. */
const IN_ID = GOOGLES.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const third = ['gemini-3-pro-preview'] as const;
const both = ['gemini-2.5-flash', 'gemini-3-pro-preview'] as const;
const thought = { type: 'thinking', thinking: 'They ask for weather.', signature: CLAUDES };
const oslo = '{"city":"Oslo"}';
const thinkingOn = { thinking: { type: 'enabled', budget_tokens: 1024 } } as const;

/** Signatures (docs/protocols/replies.md#thought-signatures, docs/protocols/gemini.md#missing-signature). */
export const signatures: Cases = {
  'on-the-call': {
    title: 'a signature on the call',
    request: {
      tools: [weather],
      messages: [hi, calls(call('c', 'weather', oslo, { thought_signature: GOOGLES })), result('c', 'rain')],
    },
    gemini: both,
  },
  'in-extra-content': {
    title: 'a signature where Google’s own OpenAI API puts it',
    request: {
      tools: [weather],
      messages: [
        hi,
        calls({ ...call('c', 'weather', oslo), extra_content: { google: { thought_signature: GOOGLES } } }),
        result('c', 'rain'),
      ],
    },
    gemini: third,
  },
  'in-the-id': {
    title: 'a signature in the id of the call',
    request: {
      tools: [weather],
      messages: [hi, calls(call(`c__thought__${IN_ID}`, 'weather', oslo)), result(`c__thought__${IN_ID}`, 'rain')],
    },
    gemini: third,
  },
  missing: {
    title: 'parallel calls whose signature was lost',
    request: {
      tools: [weather],
      messages: [
        hi,
        calls(call('c', 'weather', oslo), call('d', 'weather', '{"city":"Rome"}')),
        result('c', 'rain'),
        result('d', 'sun'),
      ],
    },
    gemini: third,
  },
  'first-of-parallel': {
    title: 'parallel calls of which the first is signed',
    request: {
      tools: [weather],
      messages: [
        hi,
        calls(call('c', 'weather', oslo, { thought_signature: GOOGLES }), call('d', 'weather', '{"city":"Rome"}')),
        result('c', 'rain'),
        result('d', 'sun'),
      ],
    },
    gemini: third,
  },
  'on-text': {
    title: 'a signature on ordinary text',
    request: {
      messages: [
        hi,
        { role: 'assistant', content: 'Hello.', content_blocks: [text('Hello.', { signature: GOOGLES })] },
        hi,
      ],
    },
    gemini: both,
  },
  'google-thought': {
    title: 'a thought of Gemini with its signature',
    request: {
      messages: [
        hi,
        {
          role: 'assistant',
          content: 'Hello.',
          content_blocks: [
            { type: 'thinking', thinking: 'They greet.', signature: GOOGLES, maker: 'gemini' },
            text('Hello.'),
          ],
        },
        hi,
      ],
    },
    gemini: third,
  },
  'claude-thought': {
    title: 'a thought of Claude with its signature, in a tool loop',
    request: {
      ...thinkingOn,
      tools: [weather],
      messages: [
        hi,
        { ...calls(call('c', 'weather', oslo)), content_blocks: [thought, text('Let me look.')] },
        result('c', 'rain'),
      ],
    },
    gemini: both,
    claude: ['claude-sonnet-4-5', 'claude-opus-4-7'],
  },
  'claude-thought-in-content': {
    title: 'a thought of Claude as a part of the content',
    request: { ...thinkingOn, messages: [hi, { role: 'assistant', content: [thought, text('Hello.')] }, hi] },
  },
  'claude-thought-behind-text': {
    title: 'a thought of Claude that stands behind the text',
    request: { messages: [hi, { role: 'assistant', content: [text('Hello.'), thought] }, hi] },
  },
  'redacted-thought': {
    title: 'a thought Claude does not show',
    request: {
      ...thinkingOn,
      messages: [
        hi,
        { role: 'assistant', content_blocks: [{ type: 'redacted_thinking', data: 'QUJD' }, text('Hello.')] },
        hi,
      ],
    },
  },
  'unsigned-thought': {
    title: 'a thought without its signature',
    request: {
      messages: [
        hi,
        { role: 'assistant', content_blocks: [{ type: 'thinking', thinking: 'Hm.' }, text('Hello.')] },
        hi,
      ],
    },
  },
  'thought-lost': {
    title: 'a tool loop that has lost its thinking, while thinking is asked for',
    request: {
      ...thinkingOn,
      tools: [weather],
      messages: [hi, calls(call('c', 'weather', oslo)), result('c', 'rain')],
    },
    claude: ['claude-sonnet-4-5', 'claude-opus-4-7'],
  },
  'blocks-with-calls': {
    title: 'Claude’s blocks sent back whole, the call among them',
    request: {
      tools: [weather],
      messages: [
        hi,
        {
          role: 'assistant',
          content: null,
          content_blocks: [thought, { type: 'tool_use', id: 'c', name: 'weather', input: { city: 'Oslo' } }],
        },
        result('c', 'rain'),
      ],
    },
  },
};
