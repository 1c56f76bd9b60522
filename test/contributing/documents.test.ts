import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

/** Cells of all rows but the heads of tables. */
const rowsOf = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/^\| .* \|$/gm)]
    .map(([row]) => row.slice(2, -2).split(' | '))
    .filter(([first = '']) => !/^(?:---|Date|Promise|Term|Command|Room)$/.test(first));

describe('the glossary of CONTRIBUTING.md', () => {
  const terms = rowsOf(read('CONTRIBUTING.md').split('\n## Glossary\n')[1] ?? '').map(([term]) => term!);

  it('has each term once, in alphabetical order', () => {
    expect(terms.length).toBeGreaterThan(40);
    expect(terms).toEqual([...new Set(terms)].toSorted((a, b) => a.localeCompare(b, 'en')));
  });
});

describe('CHANGELOG.md', () => {
  const text = read('CHANGELOG.md');

  it('has the date of every change, and what to write instead', () => {
    const rows = rowsOf(text);
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.length).toBeLessThanOrEqual(60);
    for (const cells of rows) {
      expect(cells, cells.join(' | ')).toHaveLength(3);
      expect(cells[0]).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(cells[2]).not.toBe('');
    }
  });

  it('has the changes of each section in the order of their dates', () => {
    const sections = text.split('\n### ').slice(1);
    expect(sections.length).toBeGreaterThan(4);
    for (const section of sections) {
      const dates = rowsOf(section).map(([date]) => date!);
      expect(dates, section.split('\n', 1)[0]).toEqual(dates.toSorted());
    }
  });
});

describe('SECURITY.md', () => {
  it('links every promise to its test', () => {
    const [, promises = ''] = read('SECURITY.md').split('\n## What is promised\n');
    const rows = rowsOf(promises.split('\n## ')[0]!);
    expect(rows.length).toBeGreaterThan(15);
    const without = rows.filter(([, tests = '']) => !/^(?:\[[^\]]+\]\([\w/.-]+\.test\.ts\)(?:, )?)+$/.test(tests));
    expect(without).toEqual([]);
  });
});
