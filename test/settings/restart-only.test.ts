import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RESTART_ONLY } from '../../src/core/process/restart-only.ts';

it('the keys that need a restart are the keys that docs/operate/reload.md lists', () => {
  const readme = readFileSync(new URL('../../docs/operate/reload.md', import.meta.url), 'utf8');
  const list = readme.split('## Settings that need a restart\n')[1]!.split('. ')[0]!;
  const listed = [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  const keys = RESTART_ONLY.map(({ path }) => path.join('.'));
  const isBelow = (key: string, name: string) => key === name || key.startsWith(`${name}.`);
  expect(keys.filter((key) => !listed.some((name) => isBelow(key, name)))).toEqual([]);
  expect(listed.filter((name) => !keys.some((key) => isBelow(key, name)))).toEqual([]);
});
