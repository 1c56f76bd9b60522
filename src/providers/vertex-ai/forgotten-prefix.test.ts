import { expect, test } from 'vitest';
import { explainPrefix } from './forgotten-prefix.ts';

const failure = (status: number) => ({ status, message: 'Publisher Model was not found' });

test.each([
  ['claude-sonnet-4-5@20250929', '`anthropic.claude-sonnet-4-5@20250929`'],
  ['llama-4-scout-17b-16e-instruct-maas', '`meta.llama-4-scout-17b-16e-instruct-maas`'],
  ['mistral-small-2503', '`mistralai.mistral-small-2503`'],
])('a 404 for %s names the right spelling', (model, words) => {
  expect(explainPrefix(failure(404), model).message).toMatch(/^Publisher Model was not found\. A name without/);
  expect(explainPrefix(failure(404), model).message).toContain(words);
});

test.each([
  [404, 'gemini-9'],
  [400, 'claude-x'],
  [503, 'claude-x'],
])('a %i for %s is not changed', (status, model) => {
  expect(explainPrefix(failure(status), model)).toEqual(failure(status));
});
