import { describe, expect, it } from 'vitest';
import { bodyOf, callOf, NO_ASK, NO_REPLY, withChunk } from './conversation.ts';
import { codeOf } from './code.ts';

describe('a question of the playground', () => {
  it('is a chat request, sent as a key with its config', () => {
    const ask = {
      ...NO_ASK,
      as: 'search',
      config: 'production',
      system: 'Be short.',
      text: 'hello',
      temperature: '0.2',
      schema: '{"type":"object"}',
    };
    expect(callOf(ask, '@s/m')).toEqual({
      as: 'search',
      path: '/v1/chat/completions',
      headers: { 'x-gateway-config': 'production' },
      body: {
        model: '@s/m',
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0.2,
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'hello' },
        ],
        response_format: { type: 'json_schema', json_schema: { name: 'reply', schema: { type: 'object' } } },
      },
    });
  });

  it('says which text is no JSON', () =>
    expect(() => bodyOf({ ...NO_ASK, tools: '[' }, 'm')).toThrow('The list of tools is not JSON.'));

  it('has code for five clients, none of which has a secret', () => {
    const code = codeOf('http://127.0.0.1:8787', { ...NO_ASK, text: "it's", config: 'production' }, '@s/m');
    expect(code.map(({ name }) => name)).toEqual(['curl', 'OpenAI SDK', 'Anthropic SDK', 'google-genai', 'AI SDK']);
    for (const { text } of code) expect(text).toMatch(/@s\/m/);
    expect(code[0]?.text).toContain(String.raw`it'\''s`);
  });
});

describe('a reply', () => {
  it('grows with each event: text, thinking, tool calls, tokens', () => {
    const reply = [
      '{"choices":[{"delta":{"reasoning_content":"hm"}}]}',
      '{"choices":[{"delta":{"content":"Hel"}}]}',
      '{"choices":[{"delta":{"content":"lo","tool_calls":[{"index":0,"function":{"name":"look","arguments":"{\\"a\\""}}]}}]}',
      '{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":"stop"}]}',
      '{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":4}}',
      '[DONE]',
    ].reduce(withChunk, NO_REPLY);
    expect(reply).toEqual({
      text: 'Hello',
      thinking: 'hm',
      tools: [{ name: 'look', input: '{"a":1}' }],
      tokens: '5 → 4',
      finish: 'stop',
    });
  });

  it('ends with the error of its stream', () =>
    expect(() => withChunk(NO_REPLY, '{"error":{"message":"cut"}}')).toThrow('cut'));
});
