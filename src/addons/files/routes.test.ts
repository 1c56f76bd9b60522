import { expect, it } from 'vitest';
import { guessFormat } from '../../core/http/listener/routes.ts';
import { operations } from '../../core/operations/index.ts';

it.each<[Record<string, string>, string]>([
  [{ 'anthropic-version': '2023-06-01' }, 'anthropic-messages'],
  [{}, 'openai-chat'],
])('the guessed API of a request to the files with another method and %j: %s', (headers, format) => {
  expect(guessFormat(operations, { path: '/v1/files', headers })?.name).toBe(format);
});
