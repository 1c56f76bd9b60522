import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from '../conversation.ts';
import { formats } from '../index.ts';

const requestTexts = (format: FormatName, body: JsonObject) => formats[format].texts!.request(body);

/** `role kind place: text` */
const shown = (...of: Parameters<typeof requestTexts>): readonly string[] =>
  requestTexts(...of).texts.map(({ role, kind, path, text }) => `${role} ${kind} ${path.join('.')}: ${text}`);
const media = (...of: Parameters<typeof requestTexts>): readonly string[] =>
  requestTexts(...of).media.map(({ role, type, path }) => `${role} ${type} ${path.join('.')}`);

const CALL = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"q":1}' } };

describe('the texts of a request', () => {
  it('of chat are those of messages, parts, calls and results', () => {
    const body = {
      messages: [
        { role: 'developer', content: 'be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'image_url', image_url: { url: 'data:' } },
          ],
        },
        { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'x' } }] },
        { role: 'assistant', content: null, refusal: 'no', reasoning_content: 'hm', tool_calls: [CALL] },
        { role: 'tool', content: '21 °C' },
      ],
    };
    expect(shown('openai-chat', body)).toEqual([
      'system text messages.0.content: be kind',
      'user text messages.1.content.0.text: hi',
      'user file_name messages.2.content.0.file.filename: a.pdf',
      'assistant thinking messages.3.reasoning_content: hm',
      'assistant refusal messages.3.refusal: no',
      'assistant tool_arguments messages.3.tool_calls.0.function.arguments: {"q":1}',
      'tool tool_result messages.4.content: 21 °C',
    ]);
    expect(media('openai-chat', body)).toEqual([
      'user image_url messages.1.content.1',
      'user file messages.2.content.0',
    ]);
  });

  it('of Messages include the system, results of tools, documents and thinking', () => {
    const body = {
      system: [{ type: 'text', text: 'be kind' }],
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 't', name: 'f', input: { q: 1 } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: '21 °C' }] }],
        },
        {
          role: 'user',
          content: [{ type: 'document', title: 'Plan', context: 'c', source: { type: 'text', data: 'words' } }],
        },
        { role: 'user', content: [{ type: 'image', source: { type: 'base64', data: 'x' } }] },
      ],
    };
    expect(shown('anthropic-messages', body)).toEqual([
      'system text system.0.text: be kind',
      'assistant thinking messages.0.content.0.thinking: hm',
      'assistant tool_arguments messages.0.content.1.input: {"q":1}',
      'tool tool_result messages.1.content.0.content.0.text: 21 °C',
      'user file_name messages.2.content.0.title: Plan',
      'user text messages.2.content.0.context: c',
      'user text messages.2.content.0.source.data: words',
    ]);
    expect(media('anthropic-messages', body)).toEqual(['user image messages.3.content.0']);
    expect(requestTexts('anthropic-messages', body).texts[1]).toMatchObject({ signed: true });
  });

  it('of Responses are those of items, calls and their outputs', () => {
    const body = {
      instructions: 'be kind',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'hi' },
            { type: 'input_file', filename: 'a.pdf' },
          ],
        },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'x' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: '21 °C' },
        { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'raw' },
      ],
    };
    expect(shown('openai-responses', body)).toEqual([
      'system text instructions: be kind',
      'user text input.0.content.0.text: hi',
      'user file_name input.0.content.1.filename: a.pdf',
      'assistant thinking input.1.summary.0.text: hm',
      'assistant tool_arguments input.2.arguments: {}',
      'tool tool_result input.3.output: 21 °C',
      'assistant tool_arguments input.4.input: raw',
    ]);
    expect(shown('openai-responses', { input: 'hi' })).toEqual(['user text input: hi']);
  });

  it('of Gemini are those of both spellings, calls and their results', () => {
    const body = {
      system_instruction: { parts: [{ text: 'be kind' }] },
      contents: [
        { role: 'user', parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: 'x' } }] },
        { role: 'model', parts: [{ text: 'hm', thought: true }, { functionCall: { name: 'f', args: { q: 1 } } }] },
        { role: 'user', parts: [{ function_response: { name: 'f', response: { t: 21 } } }] },
      ],
    };
    expect(shown('gemini', body)).toEqual([
      'system text system_instruction.parts.0.text: be kind',
      'user text contents.0.parts.0.text: hi',
      'assistant thinking contents.1.parts.0.text: hm',
      'assistant tool_arguments contents.1.parts.1.functionCall.args: {"q":1}',
      'tool tool_result contents.2.parts.0.function_response.response: {"t":21}',
    ]);
    expect(media('gemini', body)).toEqual(['user inlineData contents.0.parts.1']);
    expect(shown('gemini', { generateContentRequest: { contents: [{ parts: [{ text: 'count' }] }] } })).toEqual([
      'user text generateContentRequest.contents.0.parts.0.text: count',
    ]);
    expect(shown('gemini', { requests: [{ content: { parts: [{ text: 'embed' }] } }] })).toEqual([
      'user text requests.0.content.parts.0.text: embed',
    ]);
  });

  it.each([
    ['completions', { prompt: ['one', 'two'] }, ['user text prompt.0: one', 'user text prompt.1: two']],
    ['embeddings', { input: 'one' }, ['user text input: one']],
    ['images', { prompt: 'a cat' }, ['user text prompt: a cat']],
    ['tokens instead of texts', { prompt: [1, 2, [3]] }, []],
  ])('of %s are its prompts', (_, body, expected) => {
    expect(shown('openai-chat', body)).toEqual(expected);
  });

  it('of a body that is not as its API says are left out', () => {
    for (const odd of [null, 'x', 1, [], [null], [1], {}, { content: 3 }])
      for (const format of ['openai-chat', 'anthropic-messages', 'openai-responses', 'gemini'] as const)
        expect(() =>
          requestTexts(format, { messages: odd, input: odd, contents: odd, system: odd, requests: odd }),
        ).not.toThrow();
  });
});
