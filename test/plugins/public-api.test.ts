import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8');

/** Names that a module without `export *` exports. */
const exported = (file: string): readonly string[] =>
  [...read(file).matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');

const [, section = ''] = read('docs/plugins/api.md').split('\n## The names\n');
const tables = section.split('`gatehouse-gateway/plugin/testing` exports these:');
const listed = (table: string): readonly string[] =>
  [...table.matchAll(/^\| `(\w+)` \| \S/gm)].map(([, name]) => name!);

/**
 * Authors rely on these names. Add one here and in the page only if authors need it; one that goes is a row of the CHANGELOG.
 * Other code of the house imports `src/core/kernel`.
 */
describe('the public names', () => {
  it.each([
    { file: 'src/plugin/index.ts', table: tables[0]! },
    { file: 'src/plugin/testing/index.ts', table: tables[1]! },
  ])('of $file are those that docs/plugins/api.md lists, each with a sentence', ({ file, table }) => {
    const [now, frozen] = [exported(file), listed(table)];
    expect(read(file)).not.toContain('export *');
    expect({
      added: now.filter((name) => !frozen.includes(name)),
      removed: frozen.filter((name) => !now.includes(name)),
    }).toEqual({ added: [], removed: [] });
    expect(frozen.length).toBe(new Set(frozen).size);
  });

  it('lack those that the CHANGELOG has as no longer public', () => {
    const [, row = ''] = /no longer exports (.*) \|/.exec(read('CHANGELOG.md')) ?? [];
    const gone = [...row.split('. The types')[0]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    expect(gone.length).toBeGreaterThan(150);
    const now = exported('src/plugin/index.ts');
    expect(gone.filter((name) => now.includes(name))).toEqual([]);
  });
});
