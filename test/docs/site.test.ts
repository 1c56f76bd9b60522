import { describe, expect, it } from 'vitest';
import { sidebarOf, sitePath, stagedPages } from '../../docs/site/pages.ts';
import { ROOT } from './pages.ts';

const { pages } = stagedPages(ROOT);
const groups = sidebarOf(pages.get(sitePath('docs/README.md')!)!);
const isUnsearched = (page: string): boolean => pages.get(page)!.startsWith('---\nsearch: false\n');

/** Words that tell a reader to do something, or that mean something only after the label before. */
const NO_NOUN =
  /^(?:a|all|its|the|add|behind|connect|explain|give|install|limit|move|observe|reload|run|see|start|stop|use|write)\b/i;

describe('the sidebar of the documentation site', () => {
  const labels = groups.flatMap(({ items }) => items.map(({ text }) => text));

  it('has labels that are nouns and begin with a capital', () => {
    expect(labels.length).toBeGreaterThan(50);
    expect(labels.filter((label) => NO_NOUN.test(label) || /^[a-z]/.test(label))).toEqual([]);
  });

  it('has each label once', () => expect(labels).toEqual([...new Set(labels)]));

  it('has the pages outside the search under Contribute, and no other there', () => {
    const placed = groups.flatMap(({ text, items }) =>
      items.map(({ link }) => ({ group: text, page: link.slice(1).replace(/#.*/, '') })),
    );
    const misplaced = placed.filter(({ group, page }) => isUnsearched(page) !== (group === 'Contribute'));
    expect(misplaced).toEqual([]);
    for (const file of ['docs/protocols/README.md', 'docs/reference/service.md'])
      expect(placed).toContainEqual({ group: 'Contribute', page: sitePath(file) });
  });
});

describe('the search of the documentation site', () => {
  it.each([
    'docs/protocols/README.md',
    'docs/protocols/gemini.md',
    'docs/reference/service.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
  ])('leaves out %s, which stays a page', (file) => expect(isUnsearched(sitePath(file)!)).toBe(true));

  it.each(['docs/reference/errors.md', 'docs/reference/README.md', 'docs/README.md', 'plugins/auth/README.md'])(
    'has %s',
    (file) => expect(isUnsearched(sitePath(file)!)).toBe(false),
  );
});
