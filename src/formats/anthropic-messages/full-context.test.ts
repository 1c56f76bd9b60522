import { describe, expect, it } from 'vitest';
import type { ClientError } from '../client-error.ts';
import { anthropicMessages as format } from './index.ts';

const errorOf = (message: string, code = 'context_length_exceeded'): ClientError => ({
  status: 400,
  message,
  type: 'invalid_request_error',
  code,
  param: null,
  requestId: 'req_1',
});

describe('a full context', () => {
  it.each([
    [
      'OpenAI',
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      130_000,
      128_000,
    ],
    [
      'vLLM',
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8500 in the messages, 500 in the completion).",
      9000,
      8192,
    ],
    [
      'Gemini',
      'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
      1_100_000,
      1_048_576,
    ],
    ['Vertex', 'the input token count is 40000 but model only supports up to 32768.', 40_000, 32_768],
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 140_000, 131_072],
    ['Mistral', 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length', 40_000, 32_768],
    ['Kimi', 'Your request exceeded model token limit: 262144 (requested: 271362)', 271_362, 262_144],
    ['SGLang', "The input (61709 tokens) is longer than the model's context length (40960 tokens).", 61_709, 40_960],
    ['Fireworks', 'The prompt is too long: 150000, model maximum context length: 131071', 150_000, 131_071],
    ['numbers with commas', 'maximum context length is 128,000 tokens, got 130,500 tokens', 130_500, 128_000],
  ])('of %s is in the words of Anthropic’s API, with the upstream’s own behind them', (_, message, tokens, maximum) => {
    const expected = `prompt is too long: ${tokens} tokens > ${maximum} maximum. ${message}`;
    const { body } = format.encodeError(errorOf(message));
    expect(body).toMatchObject({ error: { type: 'invalid_request_error', message: expected } });
    expect(format.encodeStreamError(errorOf(message))).toContain(JSON.stringify(expected));
  });

  it.each([
    "This model's maximum context length is 8192 tokens.",
    'the request exceeds the available context size, try increasing it',
    'prompt too long; exceeded max context length by 123 tokens',
    'Input is too long.',
    `maximum ${'9'.repeat(40)} and ${'9'.repeat(41)}`,
    '',
  ])('without both numbers has none: %s', (message) => {
    expect(format.encodeError(errorOf(message)).body).toMatchObject({
      error: { message: `prompt is too long. ${message}` },
    });
  });

  it.each([
    ['prompt is too long: 210000 tokens > 200000 maximum', 'context_length_exceeded'],
    // Claude Code lowers `max_tokens` on these.
    ['input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000', 'context_length_exceeded'],
    ['Something else is 5 of 4.', 'upstream_rejected'],
  ])('leaves words that clients know, and other errors, as they are: %s', (message, code) => {
    expect(format.encodeError(errorOf(message, code)).body).toMatchObject({ error: { message } });
  });
});
