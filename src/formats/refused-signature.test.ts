import { describe, expect, it } from 'vitest';
import { refusesSignature } from './refused-signature.ts';

describe('a refusal of a signature', () => {
  // The messages of Claude and Gemini as users report them, of OpenAI as it documents them.
  it.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.5.content.2: Invalid `data` in `redacted_thinking` block',
    'messages.3.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    '{"type":"error","error":{"message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}',
    'Unable to submit request because Thought signature is not valid.. Learn more: https://cloud.google.com/vertex-ai',
    'Corrupted thought signature.',
    'Invalid thought signature.',
    'Invalid value at \'contents[1].parts[0].thought_signature\' (TYPE_BYTES), Base64 decoding failed for "x"',
    'The encrypted content gAAA...Rg== could not be verified.',
  ])('is “%s”', (message) => {
    expect(refusesSignature({ status: 400, message })).toBe(true);
    expect(refusesSignature({ status: 500, message })).toBe(false);
  });

  it('is also OpenAI’s code', () => {
    expect(refusesSignature({ status: 400, message: 'no', code: 'invalid_encrypted_content' })).toBe(true);
  });

  it.each([
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    'Function call is missing a thought_signature in functionCall parts.',
    'max_tokens: must be greater than thinking.budget_tokens',
    'prompt is too long',
    '',
  ])('is not “%s”', (message) => {
    expect(refusesSignature({ status: 400, message })).toBe(false);
  });
});
