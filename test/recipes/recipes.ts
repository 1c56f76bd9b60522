import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';

/** As commands name it that are run where the package is. */
export const RECIPES = 'configs/recipes';

const root = packageFile(RECIPES);

/** Ids of the gateway configs, in the order of their names. */
export const recipeIds = globSync('gateway/*.yaml', { cwd: root })
  .filter((name) => !name.endsWith('.test.yaml'))
  .map((name) => name.slice('gateway/'.length, -'.yaml'.length))
  .toSorted();

/** The recipes with the tests of one of them and no others: path → text. */
export function recipeFiles(id: string): Record<string, string> {
  const names = globSync(['{*,gateway/*,prompts/*}.yaml', 'prompts/partials/*.txt'], { cwd: root });
  const needed = names.filter((name) => !name.endsWith('.test.yaml') || name === `gateway/${id}.test.yaml`);
  return Object.fromEntries(needed.map((name) => [`${RECIPES}/${name}`, readFileSync(join(root, name), 'utf8')]));
}
