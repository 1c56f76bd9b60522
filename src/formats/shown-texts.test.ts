import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { RequestFault } from './faults.ts';
import { formats } from './index.ts';
import { replyContext, requestTarget } from './contexts.testkit.ts';
import { finish } from './steps.ts';
import { translateRequest } from './translate.ts';

const LONG = 'x'.repeat(100_000);
const MODELS = {
  'openai-chat': 'gpt-5',
  'openai-responses': 'gpt-5',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
};

/** The texts about a request: the message of its fault, or the reasons of its losses. */
function said(client: FormatName, upstream: FormatName, body: JsonObject): readonly string[] {
  const steps = translateRequest(
    { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], ...body },
    {
      client: formats[client],
      upstream: formats[upstream],
      target: requestTarget({ model: MODELS[upstream] }),
      reply: replyContext(),
    },
  );
  try {
    return finish(steps).losses.map(({ reason }) => reason);
  } catch (error) {
    if (error instanceof RequestFault) return [error.message];
    throw error;
  }
}

const file = (file_data: string) => ({
  messages: [{ role: 'user', content: [{ type: 'file', file: { file_data } }] }],
});
const call = (name: string, text: string) => ({
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: text } }] },
  ],
});

describe('An error or a loss quotes the beginning of a long text', () => {
  it.each<[string, FormatName, FormatName, JsonObject]>([
    ['a tier at Claude', 'openai-chat', 'anthropic-messages', { service_tier: LONG }],
    ['a tier at Gemini', 'openai-chat', 'gemini', { service_tier: LONG }],
    ['a tier at OpenAI', 'anthropic-messages', 'openai-chat', { service_tier: LONG }],
    ['a modality', 'openai-chat', 'anthropic-messages', { modalities: [LONG] }],
    ['a media type', 'openai-chat', 'anthropic-messages', { messages: [media(`application/${LONG}`)] }],
    ['a text type', 'openai-chat', 'anthropic-messages', { messages: [media(`text/${LONG}`)] }],
    ['a charset', 'openai-chat', 'anthropic-messages', file(`data:text/plain;charset=${'x'.repeat(900)},a`)],
    ['the name of a call', 'openai-chat', 'gemini', call(LONG, '{')],
    ['the name of a call that nests too deep', 'openai-chat', 'gemini', call(LONG, '['.repeat(1000))],
    ['the id of a result', 'openai-chat', 'gemini', { messages: [{ role: 'tool', tool_call_id: LONG, content: 'a' }] }],
    [
      'the type of a block',
      'anthropic-messages',
      'openai-chat',
      {
        messages: [{ role: 'assistant', content: [{ type: `${LONG}_tool_result`, content: [{ text: 'a' }] }] }],
      },
    ],
    [
      'a reference of a schema',
      'openai-chat',
      'gemini',
      {
        tools: [
          {
            type: 'function',
            function: { name: 'f', parameters: { type: 'object', allOf: [{ $ref: `#/${LONG}` }, { title: 't' }] } },
          },
        ],
      },
    ],
  ])('(%s)', (_, client, upstream, body) => {
    const texts = said(client, upstream, body);
    expect(texts).not.toEqual([]);
    for (const text of texts) expect(text.length).toBeLessThan(400);
  });
});

function media(mime_type: string): JsonObject {
  const image_url = { url: 'data:;base64,AAAA', mime_type };
  return { role: 'user', content: [{ type: 'image_url', image_url }] };
}
