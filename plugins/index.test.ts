import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPlugin } from '../src/plugin/testing/index.ts';
import { builtinPlugins } from './index.ts';

/** The host grants each plugin its `needs`; creating a plugin calls none of them. */
const needs = {
  keys: {},
  configs: {},
  attempts: {},
  health: {},
  targets: {},
  models: {},
  aliases: {},
  prompts: {},
  translate: {},
  media: {},
  defaultFormat: {},
  send: {},
  cache: {},
  semantic: {},
  recorder: {},
  limits: {},
  gates: {},
  files: {},
  responses: {},
  budgets: {},
  guards: { open: () => Promise.resolve(() => Promise.resolve()) },
};

describe('the built-in plugins', () => {
  it('are the folders here and those of the add-ons, by name', () => {
    const root = join(import.meta.dirname, '..');
    const names = globSync('{plugins,src/addons/*/plugins}/*/index.ts', { cwd: root }).map((file) =>
      basename(dirname(file)),
    );
    expect(builtinPlugins.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  it.each(builtinPlugins.map((plugin) => [plugin.name, plugin] as const))(
    '%s follows the rules of a plugin',
    async (_, plugin) => {
      expect(await checkPlugin(plugin, { needs })).toEqual([]);
    },
  );

  it('require only what earlier plugins of the default chains provide', () => {
    const provided = new Set<string>();
    for (const { name, requires, provides } of builtinPlugins) {
      expect(
        requires.filter((one) => !provided.has(one)),
        name,
      ).toEqual([]);
      for (const one of provides) provided.add(one);
    }
  });
});
