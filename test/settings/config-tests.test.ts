import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createReporter } from '../../src/addons/config-tests/report.ts';
import { type CaseResult, diffOf, headOf, placeOf } from '../../src/addons/config-tests/results.ts';
import { runCase } from '../../src/addons/config-tests/runner.ts';
import { runTests } from '../../src/addons/config-tests/run-tests.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { describe as tell } from '../../src/core/settings/source/diagnostic.ts';
import { diskFiles, memoryFiles } from '../../src/core/settings/source/files.ts';

/** The samples, and every folder in them that is one of settings itself. */
const folders = globSync('**/catalog.yaml', { cwd: packageFile('configs') })
  .map((path) => packageFile(join('configs', path, '..')))
  .sort();

const results: CaseResult[] = [];
const ends = await Promise.all(
  folders.map((folder) =>
    runTests({
      folder,
      files: diskFiles,
      clock: systemClock,
      bail: false,
      runCase,
      onResult: (result) => results.push(result),
    }),
  ),
);

describe('the tests of the sample configs', () => {
  test('can be run, all of them', () => {
    const mistakes = ends.map((end) => (end.kind === 'broken' ? end.diagnostics.map(tell) : end.kind));
    expect(mistakes).toEqual(folders.map(() => 'ran'));
  });

  const root = packageFile('configs');
  const configs = globSync('**/gateway/*.yaml', { cwd: root }).filter((name) => !name.endsWith('.test.yaml'));

  test.each(configs)('are there for %s', (name) => {
    const tests = join(root, name.replace(/\.yaml$/, '.test.yaml'));
    expect(results.filter(({ file }) => file === tests)).not.toEqual([]);
  });

  test.each(results)('pass: $name', ({ failures }) => {
    const reported = failures.map((one) => [
      `${placeOf(one)}: ${headOf(one)}`,
      ...diffOf(one).map((side) => side.join(' ')),
    ]);
    expect(reported).toEqual([]);
  });
});

describe('the tests that docs/operate/tests.md shows', () => {
  const page = readFileSync(packageFile('docs/operate/tests.md'), 'utf8');
  /** The settings of the example of docs/route, and their tests. */
  const shown = [readFileSync(packageFile('docs/route/README.md'), 'utf8'), page].flatMap((text) =>
    [...text.matchAll(/^```yaml\n(# (configs\/\S+\.yaml)\n[\s\S]*?)^```/gm)].map(
      ([, yaml, name]) => [name!, yaml!] as const,
    ),
  );

  const runShown = async (edit: (text: string) => string): Promise<string> => {
    const reporter = createReporter('pretty', { color: false });
    let said = '';
    const texts = shown.map(([name, text]) => [name, name.endsWith('search.yaml') ? edit(text) : text]);
    const end = await runTests({
      folder: 'configs',
      files: memoryFiles(Object.fromEntries(texts)),
      clock: { now: () => 0 },
      bail: false,
      runCase,
      onResult: (result) => (said += reporter.each(result)),
    });
    return said + (end.kind === 'ran' ? reporter.end(end) : JSON.stringify(end));
  };

  test('pass', async () => {
    expect(await runShown((text) => text)).toMatch(/\n2 passed \(/);
  });

  test('fail as it says where the config is another', async () => {
    const said = await runShown((text) => text.replace('max_tokens: 1024', 'max_tokens: 2048'));
    const blocks = [...page.matchAll(/^```text\n([\s\S]*?)^```/gm)].map(([, text]) => text);
    expect(blocks).toContain(said.replace('(0 ms)', '(45 ms)'));
  });
});
