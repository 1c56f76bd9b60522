import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { clientContext, deepFreeze, replyWith } from '../contexts.testkit.ts';
import { openaiChat } from './index.ts';

const strict = clientContext();
const lax = clientContext({ strict: false });

interface Body {
  readonly choices: readonly { readonly message: JsonObject; readonly [key: string]: unknown }[];
  readonly usage?: JsonObject;
  readonly [key: string]: unknown;
}
/** The body as it is sent: a key with an undefined value is omitted. */
const write = (events: readonly GenerationEvent[], client = strict): Body =>
  JSON.parse(JSON.stringify(replyWith(openaiChat, deepFreeze(events), client))) as Body;

const start: GenerationEvent = { type: 'start', id: 'chatcmpl-1', model: 'gpt-ran' };
const end: GenerationEvent = { type: 'end' };
const stop: GenerationEvent = { type: 'finish', choice: 0, reason: 'stop' };
const text = (text: string, block = 0): GenerationEvent => ({ type: 'text', choice: 0, block, text });
const call = (at: number, id: string, more: object = {}): GenerationEvent => ({
  type: 'tool_call',
  choice: 0,
  block: at + 1,
  call: at,
  id,
  name: 'f',
  ...more,
});
const called: GenerationEvent = { type: 'finish', choice: 0, reason: 'tool_calls' };

describe('a plain reply', () => {
  it('has the shape that OpenAI documents', () => {
    const usage: GenerationEvent = { type: 'usage', usage: { input: 9, output: 3, total: 12 } };
    expect(write([start, text('h'), text('i'), usage, stop, end])).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_795_132_800,
      model: 'gpt-ran',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 3,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  it('takes id and model from the request when the reply has none', () => {
    expect(write([text('x'), stop, end])).toMatchObject({ id: 'chatcmpl-test', model: 'model-asked' });
  });

  it('has a choice without content, and no usage without counts', () => {
    const body = write([start, end]);
    expect(body.choices).toMatchObject([{ index: 0, finish_reason: 'stop', message: { content: '' } }]);
    expect(body).not.toHaveProperty('usage');
  });

  it.each<[string, readonly GenerationEvent[], JsonObject]>([
    ['null beside calls alone', [call(0, 'a'), called], { content: null }],
    ['text beside calls', [text('x'), call(0, 'a'), called], { content: 'x' }],
    ['null beside a refusal', [{ type: 'refusal', choice: 0, text: 'No.' }, stop], { content: null, refusal: 'No.' }],
    [
      'null for a blocked prompt, with the explanation as the refusal',
      [{ type: 'finish', choice: 0, reason: 'content_filter', message: 'Blocked.' }],
      { content: null, refusal: 'Blocked.' },
    ],
    [
      'null for a blocked prompt without a reason',
      [{ type: 'finish', choice: 0, reason: 'content_filter' }],
      { content: null, refusal: null },
    ],
    ['the empty text where nothing was said', [stop], { content: '', refusal: null }],
    [
      'null beside sound',
      [
        { type: 'media', choice: 0, block: 0, mime: 'audio/wav', data: 'UklGRg==' },
        { type: 'media', choice: 0, block: 1, mime: 'audio/wav', data: 'AAAA' },
        stop,
      ],
      {
        content: null,
        audio: { id: 'audio_chatcmpl-test', expires_at: 1_795_132_800, transcript: '', data: 'UklGRgAAAA==' },
      },
    ],
  ])('has for content %s', (_title, events, message) => {
    expect(write([start, ...events, end]).choices[0]?.message).toMatchObject(message);
  });

  it('writes calls whole, with arguments that are never empty', () => {
    const events: GenerationEvent[] = [
      start,
      call(0, 'a'),
      { type: 'tool_arguments', choice: 0, call: 0, text: '{"x":' },
      { type: 'tool_arguments', choice: 0, call: 0, text: '1}' },
      call(1, 'b'),
      call(2, 'c', { custom: true }),
      { type: 'tool_arguments', choice: 0, call: 2, text: 'ls' },
      end,
    ];
    const [choice] = write(events).choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls' });
    expect(choice?.message.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'c', type: 'custom', custom: { name: 'f', input: 'ls' } },
    ]);
  });

  it('has logprobs with the bytes of UTF-8, and citations', () => {
    const [choice] = write([
      start,
      text('é'),
      { type: 'logprobs', choice: 0, tokens: [{ token: 'é', logprob: -1, top: [{ token: '🙂', logprob: -2 }] }] },
      { type: 'citation', choice: 0, citation: { url: 'https://a.example', start: 0, end: 1 } },
      stop,
      end,
    ]).choices;
    expect(choice?.logprobs).toEqual({
      content: [
        {
          token: 'é',
          logprob: -1,
          bytes: [195, 169],
          top_logprobs: [{ token: '🙂', logprob: -2, bytes: [240, 159, 153, 130] }],
        },
      ],
      refusal: null,
    });
    expect(choice?.message.annotations).toEqual([
      { type: 'url_citation', url_citation: { start_index: 0, end_index: 1, url: 'https://a.example', title: '' } },
    ]);
  });
});

describe('content that only some providers have', () => {
  const events: readonly GenerationEvent[] = [
    start,
    { type: 'thinking', choice: 0, block: 0, text: 'Hm' },
    { type: 'signature', choice: 0, block: 0, signature: 'c2ln' },
    { type: 'redacted_thinking', choice: 0, block: 1, data: 'ZGF0YQ' },
    text('Yes', 2),
    { type: 'opaque', choice: 0, block: 3, format: 'anthropic-messages', value: { type: 'server_tool_use', id: 's' } },
    { type: 'code', choice: 0, block: 4, language: 'python', code: '1+1' },
    { type: 'code_result', choice: 0, block: 5, outcome: 'ok', output: '2' },
    { type: 'media', choice: 0, block: 6, mime: 'image/png', data: 'iVBO', signature: 'bWVk' },
    call(0, 'c', { signature: 'Y2FsbA' }),
    {
      type: 'opaque',
      choice: 0,
      block: 8,
      format: 'gemini',
      value: { groundingMetadata: { q: 1 }, message: 'not this' },
    },
    { type: 'usage', usage: { input: 9, output: 3, total: 12, cacheRead: 4, cacheWrite: 2 } },
    { type: 'finish', choice: 0, reason: 'tool_calls', native: 'tool_use' },
    end,
  ];

  it('is hidden from a strict client', () => {
    const body = write(events);
    expect(body.choices).toEqual([
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Yes',
          refusal: null,
          annotations: [],
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ]);
    expect(Object.keys(body.usage ?? {})).toEqual([
      'prompt_tokens',
      'completion_tokens',
      'total_tokens',
      'prompt_tokens_details',
      'completion_tokens_details',
    ]);
  });

  it('is shown to a client that is not strict', () => {
    const body = write(events, lax);
    expect(body.choices).toEqual([
      {
        groundingMetadata: { q: 1 },
        index: 0,
        message: {
          role: 'assistant',
          content: 'Yes',
          refusal: null,
          annotations: [],
          tool_calls: [
            {
              id: 'c',
              type: 'function',
              function: { name: 'f', arguments: '{}', thought_signature: 'Y2FsbA' },
              extra_content: { google: { thought_signature: 'Y2FsbA' } },
            },
          ],
          content_blocks: [
            { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'ZGF0YQ' },
            { type: 'text', text: 'Yes' },
            { type: 'server_tool_use', id: 's' },
            { type: 'code', language: 'python', code: '1+1' },
            { type: 'code_result', outcome: 'ok', output: '2' },
          ],
          content_parts: [
            { type: 'text', text: 'Yes' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' }, signature: 'bWVk' },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
        native_finish_reason: 'tool_use',
      },
    ]);
    expect(body.usage).toMatchObject({ cache_read_input_tokens: 4, cache_creation_input_tokens: 2 });
  });

  it('adds nothing to an answer that is only text and calls', () => {
    const plain = [start, text('a'), call(0, 'c'), called, end];
    expect(write(plain, lax)).toEqual(write(plain));
  });
});
