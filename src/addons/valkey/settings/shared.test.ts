import { describe, expect, it } from 'vitest';
import type { ServerFile } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import type { Problem } from '../../../core/kernel/report.ts';
import { addressIn, checkFile } from './shared.ts';

const problemsOf = (url: string, installed = true): readonly Problem[] => {
  const problems: Problem[] = [];
  const shared = { type: 'valkey' as const, url: new Secret(url) };
  const file: ServerFile = { state: { store: { type: 'memory' }, shared } };
  checkFile(file, (problem) => problems.push(problem), installed);
  return problems;
};

describe('the address of the shared engine', () => {
  it.each([
    ['redis://localhost', { host: 'localhost', port: 6379, tls: undefined, database: 0 }],
    ['redis://[::1]:7000/3', { host: '::1', port: 7000, tls: undefined, database: 3 }],
    ['rediss://127.0.0.1', { host: '127.0.0.1', tls: { verified: false } }],
    ['rediss://cache.example.com', { host: 'cache.example.com', tls: { verified: true } }],
    ['rediss://us%40er:p%2Fw@cache.example.com', { username: 'us@er', password: 'p/w' }],
  ])('is read from %s', (url, address) => {
    expect(addressIn(new Secret(url))).toMatchObject(address);
    expect(problemsOf(url)).toEqual([]);
  });

  it.each([
    'canary',
    'http://canary@cache.example.com',
    'redis://:canary@',
    'rediss://:canary%@cache.example.com',
    'rediss://:canary@cache.example.com/name',
    'rediss://:canary@cache.example.com?tls=false',
  ])('is refused without being shown (%s)', (url) => {
    const [problem, ...more] = problemsOf(url);
    expect([problem?.path, more]).toEqual([['state', 'shared', 'url'], []]);
    expect(problem?.message).not.toContain('canary');
  });

  it('earns a warning in clear text to another machine', () => {
    expect(problemsOf('redis://cache.example.com')).toMatchObject([{ severity: 'warning' }]);
  });
});

it('Without its package the engine is refused at its place, with the command that installs it', () => {
  expect(problemsOf('redis://localhost', false)).toEqual([
    { path: ['state', 'shared', 'type'], message: expect.stringContaining('`npm install @redis/client@6`') },
  ]);
});
