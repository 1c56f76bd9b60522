import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
const section = /### The ceilings\n(.*?)\n## /s.exec(contributing)![1]!;

/** The folder that a row names, and its number of lines: "| the plugin API, `src/plugin` | 2,200 |". */
const ceilings = [...section.matchAll(/^\|[^`\n]*`([^`\n]+)`[^|\n]*\| ([\d,]+) \|$/gm)].map(
  ([, folder, lines]) => [folder!, Number(lines!.replaceAll(',', ''))] as const,
);

const isCounted = (file: string): boolean =>
  /\.(ts|tsx|css)$/.test(file) && !/\.(test|testkit|generated)\.tsx?$/.test(file);

function linesOf(folder: string): number {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(isCounted);
  return files.reduce((sum, file) => sum + readFileSync(join(root, folder, file), 'utf8').split('\n').length - 1, 0);
}

describe('The ceilings of CONTRIBUTING', () => {
  it('are those of the core, its plugins, the formats, the plugin API and the add-ons', () => {
    const folders = ceilings.map(([folder]) => folder);
    expect(folders.toSorted()).toEqual(['plugins', 'src/addons', 'src/core', 'src/formats', 'src/plugin']);
  });

  it.each(ceilings)('%s has at most %d lines', (folder, most) => {
    expect(linesOf(folder)).toBeLessThanOrEqual(most);
  });
});
