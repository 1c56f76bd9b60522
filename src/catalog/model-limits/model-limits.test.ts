import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { generateModelLimits, LIMITS_OUTPUT } from '../../../schemas/model-limits.ts';
import { modelLimits } from './model-limits.ts';

describe('the limits of a model', () => {
  it.each([
    ['anthropic', 'claude-sonnet-4-5', 64_000],
    ['anthropic', 'claude-sonnet-4-5-20250929', 64_000],
    ['anthropic', 'claude-sonnet-4-5-20291231', 64_000],
    ['anthropic', 'claude-opus-5-latest', 128_000],
    ['vertex-ai', 'claude-sonnet-4-5@20250929', 64_000],
    ['vertex-ai', 'claude-opus-5@default', 128_000],
  ])('of %s are known for %s', (provider, model, output) => {
    expect(modelLimits(provider, model)?.output).toBe(output);
  });

  it.each([
    ['anthropic', 'claude-99'],
    ['anthropic', ''],
    ['openai', 'claude-sonnet-4-5'],
    ['anthropic', '__proto__'],
    ['anthropic', 'constructor'],
  ])('of %s are unknown for %j', (provider, model) => {
    expect(modelLimits(provider, model)).toBeUndefined();
  });

  it('are the table that `node schemas/generate.ts` writes today', async () => {
    expect(generateModelLimits()).toBe(await readFile(LIMITS_OUTPUT, 'utf8'));
  });
});
