import { expect, test } from 'vitest';
import { tasksOf } from './families.ts';

test.each([
  ['gemini-2.5-flash', ['generate', 'count_tokens']],
  ['gemini-2.5-flash-image', ['generate', 'count_tokens', 'images']],
  ['text-embedding-005', ['count_tokens', 'embeddings']],
  ['imagen-4.0-generate-001', ['images']],
  ['anthropic.claude-sonnet-4-5', ['generate', 'count_tokens']],
  ['meta.llama-4-maverick-17b-128e-instruct-maas', ['generate']],
  ['mistralai.mistral-small-2503', ['generate']],
])('%s supports %j', (model, tasks) => {
  expect([...tasksOf(model)!]).toEqual(tasks);
});

test.each(['endpoints.123', '../x', ''])('the tasks of %j are unknown', (model) => {
  expect(tasksOf(model)).toBeUndefined();
});
