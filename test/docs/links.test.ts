import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { anchorsOf, citationsOf, commentsOf, linksOf, pagesIn, type Link } from '../support/doc-links.ts';

const root = packageFile('');
const rooms = '{docs,src,plugins,test,schemas,configs}/**/*';
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Without this file, whose samples name pages that do not exist. */
const sources = globSync([`${rooms}.ts`, `${rooms}.js`, '*.ts'], { cwd: root, exclude: ['docs/site/dist/**'] }).filter(
  (file) => file !== 'test/docs/links.test.ts',
);
const settings = globSync(`${rooms}.yaml`, { cwd: root, exclude: ['docs/site/dist/**'] });
const pages = globSync([`${rooms}.md`, '*.md'], { cwd: root });

/** A link to another kind of file has no anchor that could be looked up. */
const leadsSomewhere = (from: string, { path, anchor }: Link): boolean => {
  const target = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || (target.endsWith('.md') && anchorsOf(read(target)).includes(anchor));
};

const textOf = ({ path, anchor }: Link): string => (anchor === undefined ? path : `${path}#${anchor}`);

describe('a page in Markdown', () => {
  it('links only to files and headings that exist', () => {
    expect(pages.length).toBeGreaterThan(40);
    const dead = pages.flatMap((page) =>
      linksOf(read(page)).flatMap((link) => (leadsSomewhere(page, link) ? [] : [`${page}: ${textOf(link)}`])),
    );
    expect(dead).toEqual([]);
  });

  it('offers each anchor once, where comments link to it', () => {
    for (const page of globSync('docs/**/*.md', { cwd: root })) {
      const anchors = anchorsOf(read(page));
      expect(anchors, page).toEqual([...new Set(anchors)]);
    }
  });
});

describe('a citation of docs/', () => {
  it('names a page and an anchor that exist, in sources, settings and pages', () => {
    const citations = [...sources, ...settings, ...pages].flatMap((file) =>
      citationsOf(read(file)).map((link) => ({ file, link })),
    );
    expect(citations.length).toBeGreaterThan(500);
    const dead = citations.filter(({ link }) => !leadsSomewhere('README.md', link));
    expect(dead.map(({ file, link }) => `${file}: ${textOf(link)}`)).toEqual([]);
  });
});

describe('a source', () => {
  it('names in its comments only Markdown files of the repository', () => {
    const dead = sources.flatMap((file) =>
      pagesIn(commentsOf(read(file))).flatMap((page) =>
        existsSync(join(root, page)) || existsSync(join(root, dirname(file), page)) ? [] : [`${file}: ${page}`],
      ),
    );
    expect(dead).toEqual([]);
  });

  it('begins no comment with "What": a sentence has a subject', () => {
    const rooms = sources.filter((file) => /^(?:src|plugins|docs\/site)\//.test(file));
    const begins = /(?:\/\*\*?\s*(?:\n\s*\* )?|^\s*\/\/ )What\b/m;
    expect(rooms.filter((file) => begins.test(read(file)))).toEqual([]);
  });

  it('names in its texts only Markdown files whose name the repository has', () => {
    const names = new Set(pages.map((page) => basename(page)));
    // The builder of the site has names of its own for pages.
    const inRepository = sources.filter((file) => !file.startsWith('docs/site/'));
    const dead = inRepository.flatMap((file) =>
      pagesIn(read(file)).flatMap((page) => (names.has(basename(page)) ? [] : [`${file}: ${page}`])),
    );
    expect(dead).toEqual([]);
  });
});

describe('docs/protocols/README.md', () => {
  it('lists every page of its folder', () => {
    const listed = linksOf(read('docs/protocols/README.md')).map(({ path }) => path);
    const missing = globSync('docs/protocols/*.md', { cwd: root }).filter(
      (page) => !page.endsWith('README.md') && !listed.includes(page.slice('docs/protocols/'.length)),
    );
    expect(missing).toEqual([]);
  });
});

describe('the search for links', () => {
  const page =
    '# A page\n\n## Two words\n## Two words\n\n```yaml\n# no heading\n```\n\n<a id="row"></a>`x` [y](other.md#z)\n';

  it('finds headings and ids, and no comment of an example', () => {
    expect(anchorsOf(page)).toEqual(['a-page', 'two-words', 'two-words-1', 'row']);
  });

  it('finds links to files and none to the web', () => {
    expect(linksOf(`${page}[z](https://a.example/b.md) [w](#row)`)).toEqual([
      { path: 'other.md', anchor: 'z' },
      { path: '', anchor: 'row' },
    ]);
  });

  it('finds citations with and without an anchor', () => {
    expect(citationsOf('// (docs/a/b.md#c-d), docs/a/b.md.')).toEqual([
      { path: 'docs/a/b.md', anchor: 'c-d' },
      { path: 'docs/a/b.md', anchor: undefined },
    ]);
  });

  it('finds pages in comments of each kind, and tells them from code', () => {
    const source =
      "/** see one.md */\nconst a = 'two.md'; // three.md §4\n/*\n * ../four.md\n */\n// https://a.example/x.md";
    expect(pagesIn(source)).toEqual(['one.md', 'two.md', 'three.md', '../four.md']);
    expect(pagesIn(commentsOf(source))).toEqual(['one.md', 'three.md', '../four.md']);
  });
});
