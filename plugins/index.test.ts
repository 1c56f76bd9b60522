import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkDefinition } from '../src/plugin/testing/check-definition.ts';
import { builtinPlugins } from './index.ts';

describe('the built-in plugins', () => {
  it('are the folders here and those of the add-ons, by name', () => {
    const root = join(import.meta.dirname, '..');
    const names = globSync('{plugins,src/addons/*/plugins}/*/index.ts', { cwd: root }).map((file) =>
      basename(dirname(file)),
    );
    expect(builtinPlugins.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  it.each(builtinPlugins.map((plugin) => [plugin.name, plugin] as const))(
    '%s follows the rules for what a plugin declares',
    (_, plugin) => {
      expect([...checkDefinition(plugin)]).toEqual([]);
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
