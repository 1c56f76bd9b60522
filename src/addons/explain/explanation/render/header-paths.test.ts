import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { HeaderPath, HeaderPaths } from '../header-paths.ts';
import { headerPathsJson, renderHeaderPaths } from './header-paths.ts';

const forwarded = (parts: Partial<HeaderPath> = {}): HeaderPath => ({
  header: 'x-team',
  as: 'x-team',
  provider: '@gpt',
  config: 'prod',
  target: 'config.targets[0]',
  why: 'forwarded',
  source: {
    kind: 'settings',
    at: { file: 'configs/gateway/prod.yaml', line: 4, column: 19 },
    setting: 'forward_headers.0',
  },
  ...parts,
});

const TOLD: HeaderPaths = {
  settings: { folder: 'configs', hash: '519f7c08bfd78e36' },
  paths: [
    ...[0, 1, 2, 3, 4].map((index) => forwarded({ target: `config.targets[${index}]` })),
    forwarded({
      provider: '@claude',
      header: 'anthropic-beta',
      as: 'anthropic-beta',
      why: 'spoken',
      source: { kind: 'gateway', what: 'the API of Anthropic' },
    }),
    forwarded({
      provider: '@claude',
      header: 'anthropic-beta',
      as: 'anthropic-beta',
      why: 'spoken',
      config: undefined,
      source: { kind: 'gateway', what: 'the API of Anthropic' },
    }),
    forwarded({
      provider: '@vertex',
      header: 'x-gateway-token',
      as: 'authorization',
      why: 'credential',
      config: undefined,
      target: 'model',
      source: { kind: 'gateway', what: 'no credentials in the catalog' },
    }),
  ],
  never: [
    { header: 'x-gateway-*', why: 'the gateway reads them itself' },
    { header: 'cookie', why: 'may hold a credential' },
    { header: 'x-api-key', why: 'may hold a credential' },
  ],
  notes: ['plugins may send more'],
};

const render = (reported: HeaderPaths): string => renderHeaderPaths(reported, { width: 100, colour: false });

it('the text of header paths equals goldens/header-paths.txt', async () => {
  await expect(render(TOLD)).toMatchFileSnapshot(join(import.meta.dirname, 'goldens/header-paths.txt'));
});

it('a header that reaches a provider by several targets is listed once, with the number of unnamed ones', () => {
  const text = render(TOLD);
  expect(text.match(/x-team/g)).toHaveLength(1);
  expect(text).toContain('prod (config.targets[0], config.targets[1], config.targets[2] and 2 more)');
});

it('without any path it lists the headers that are never sent', () => {
  expect(render({ ...TOLD, paths: [], notes: [] }).split('\n')[0]).toBe('never       x-gateway-*');
});

it('the JSON of header paths has every path as its own entry', () => {
  expect(JSON.parse(headerPathsJson(TOLD))).toEqual(JSON.parse(JSON.stringify(TOLD)));
});
