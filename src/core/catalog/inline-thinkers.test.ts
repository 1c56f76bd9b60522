import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packageFile } from '../kernel/package-root.ts';
import { InlineThinkers, KNOWN_INLINE_THINKERS, knownInlineThinkers } from './catalog.ts';

it('the schema states the known models as the default', () => {
  const schema = JSON.parse(readFileSync(packageFile('schemas/catalog.json'), 'utf8')) as {
    definitions: { inline_thinking: { default: unknown } };
  };
  expect(schema.definitions.inline_thinking.default).toEqual(KNOWN_INLINE_THINKERS);
});

it.each([
  ['deepseek-ai/DeepSeek-R1-Distill-Qwen-32B', true],
  ['deepseek-r1:8b', true],
  ['qwen/qwen3-32b', true],
  ['QwQ-32B', true],
  ['deepseek-chat', false],
  ['gpt-4o', false],
])('%s is known to begin with its chain of thought: %s', (model, expected) => {
  expect(knownInlineThinkers.has(model)).toBe(expected);
});

it('an entry may name other models, or none', () => {
  expect(new InlineThinkers(['My-*']).has('my-reasoner')).toBe(true);
  expect(new InlineThinkers([]).has('deepseek-r1')).toBe(false);
});
