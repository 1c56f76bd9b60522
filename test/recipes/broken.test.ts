import { describe, expect, it } from 'vitest';
import { runCase } from '../../src/addons/config-tests/runner.ts';
import { runTests } from '../../src/addons/config-tests/run-tests.ts';
import { hasFailed, type TestsEnd } from '../../src/addons/config-tests/results.ts';
import { describe as tell } from '../../src/core/settings/source/diagnostic.ts';
import { memoryFiles } from '../../src/core/settings/source/files.ts';
import { oneInFour } from '../support/effort.ts';
import { BREAKAGES, type Breakage } from './breakages.ts';
import { RECIPES, recipeFiles, recipeIds } from './recipes.ts';

const runRecipe = (files: Readonly<Record<string, string>>, bail = false): Promise<TestsEnd> =>
  runTests({ folder: RECIPES, files: memoryFiles(files), clock: { now: () => 0 }, bail, runCase, onResult() {} });

/** Mistakes, or the names of the cases that fail. */
function failuresOf(end: TestsEnd): readonly string[] {
  if (end.kind === 'ran') return end.results.filter(hasFailed).map(({ name }) => name);
  throw new Error(end.kind === 'broken' ? end.diagnostics.map(tell).join('\n') : end.message);
}

function broken(id: string, { file, edit: [from, to] }: Breakage): Record<string, string> {
  const files = recipeFiles(id);
  const path = `${RECIPES}/${file ?? `gateway/${id}.yaml`}`;
  const parts = files[path]!.split(from);
  expect(parts.length, `how often ${path} has ${JSON.stringify(from)}`).toBe(2);
  return { ...files, [path]: parts.join(to) };
}

describe('the tests of the recipes', () => {
  it('are asked about every recipe, each broken in five ways or more', () => {
    expect(recipeIds.length).toBeGreaterThanOrEqual(10);
    expect(Object.keys(BREAKAGES)).toEqual(recipeIds);
    expect(Object.values(BREAKAGES).filter((some) => some.length < 5)).toEqual([]);
  });

  it.each(recipeIds)('pass for %s as it is', async (id) => {
    expect(failuresOf(await runRecipe(recipeFiles(id)))).toEqual([]);
  });

  it.each(
    recipeIds.flatMap((id, row) =>
      oneInFour('recipes', row, BREAKAGES[id]!).map((breakage) => [id, breakage.what, breakage] as const),
    ),
  )('fail for %s where %s', async (id, _, breakage) => {
    expect(failuresOf(await runRecipe(broken(id, breakage), true))).not.toEqual([]);
  });
});
