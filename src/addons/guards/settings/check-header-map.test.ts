import { expect, it } from 'vitest';
import type { Problem } from '../../../core/kernel/report.ts';
import { checkHeaderMaps } from './check-header-map.ts';

const RULES = { prefixes: ['x-gateway-'], credentials: new Map([['x-of-entry', '@openai']]) };

function problemsOf(upstream: Readonly<Record<string, string>>): readonly Problem[] {
  const problems: Problem[] = [];
  checkHeaderMaps([{ plugin: 'header-map', options: { upstream } }], RULES, (problem) => void problems.push(problem));
  return problems;
}

it.each([
  'X-Gateway-Config',
  'x-gateway-provider',
  'Authorization',
  'host',
  'Content-Length',
  'content-type',
  'transfer-encoding',
  'connection',
  'te',
  'upgrade',
  'via',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-of-entry',
  'proxy-authorization',
  'x-goog-user-project',
  'openai-organization',
  'OpenAI-Project',
  'x-http-method-override',
  'x-original-url',
  'x-forwarded-for',
  'x-amz-target',
  'x-ms-version',
  'x-portkey-provider',
])('A header of the client is never sent as %s, and the mistake has its place', (name) => {
  const problems = problemsOf({ 'x-own': name });
  expect(problems).toEqual([
    expect.objectContaining({ path: [0, 'options', 'upstream', 'x-own'], message: expect.stringContaining(name) }),
  ]);
});

it('A header of the client may have any other name', () => {
  expect(problemsOf({ 'x-conversation': 'x-session-id', 'x-forwarded-for': 'x-seen-address' })).toEqual([]);
});
