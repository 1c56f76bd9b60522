import { describe, expect, test } from 'vitest';
import type { Problem } from '../kernel/report.ts';
import { readBase } from './entry-settings.ts';

const OWN = 'https://own.example';

function read(base_url: string | undefined, allow_insecure?: boolean) {
  const problems: Problem[] = [];
  const entry = {
    slug: 's',
    provider: 'openai' as const,
    ...(base_url !== undefined && { base_url }),
    ...(allow_insecure !== undefined && { allow_insecure }),
  };
  return { base: readBase(entry, OWN, (problem) => problems.push(problem)), problems };
}

describe('readBase', () => {
  test.each([
    [undefined, { origin: OWN, prefix: '' }],
    ['https://proxy.example', { origin: 'https://proxy.example', prefix: '' }],
    ['https://proxy.example/', { origin: 'https://proxy.example', prefix: '' }],
    ['https://proxy.example:8443/llm/vertex//', { origin: 'https://proxy.example:8443', prefix: '/llm/vertex' }],
    ['https://proxy.example/a/../b', { origin: 'https://proxy.example', prefix: '/b' }],
    ['https://PROXY.example:443', { origin: 'https://proxy.example', prefix: '' }],
  ])('reads %j', (url, base) => {
    expect(read(url)).toEqual({ base, problems: [] });
  });

  test('allows plain http with allow_insecure', () => {
    expect(read('http://127.0.0.1:9000/x', true).base).toEqual({ origin: 'http://127.0.0.1:9000', prefix: '/x' });
  });

  test.each([
    ['http://proxy.example', 'plain http'],
    ['https://user:CANARY@proxy.example', 'credentials'],
    ['https://proxy.example?x=1', 'query'],
    ['https://proxy.example/#x', 'fragment'],
    ['ftp://proxy.example', 'https://'],
    ['https://', 'not a URL'],
  ])('reports %j', (url, words) => {
    const { base, problems } = read(url);
    expect(base).toBeUndefined();
    expect(problems).toEqual([{ path: ['base_url'], message: expect.stringContaining(words) }]);
    expect(JSON.stringify(problems)).not.toContain('CANARY');
  });
});
