/** Which Markdown files are pages of the site, where they are in it, and what becomes of their links. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';

/** Pages outside docs/: their files stay beside what they describe. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^docs\/(?!site\/)(.*)$/, '$1'],
  [/^plugins\/README\.md$/, 'plugins/built-in.md'],
  [/^(?:src\/addons\/[\w-]+\/)?plugins\/([\w-]+)\/README\.md$/, 'plugins/$1.md'],
  [/^configs\/recipes\/README\.md$/, 'recipes.md'],
  [/^configs\/observability\/README\.md$/, 'operate/observability.md'],
  [/^SECURITY\.md$/, 'operate/security.md'],
  [/^CHANGELOG\.md$/, 'changelog.md'],
  [/^CONTRIBUTING\.md$/, 'contributing/README.md'],
];
const SOURCES = [
  'docs/**/*.md',
  'plugins/README.md',
  '{plugins,src/addons/*/plugins}/*/README.md',
  'configs/*/README.md',
  '*.md',
];

/** The page that a link gets in the place of one that the site leaves out. */
const INSTEAD: Readonly<Record<string, string>> = {
  'README.md': 'docs/README.md',
  'configs/README.md': 'docs/reference/settings/README.md',
};

/** Files that people open from a page. Sources and tests are for those who have the repository. */
const FILES =
  /^(?:configs|schemas|data|deploy)\/.*\.(?:yaml|json|service)$|^docs\/console\/.*\.png$|^(?:LICENSE|Dockerfile|compose\.yaml)$/;

/** The place of a file in the site; undefined where it is no page of it. */
export function sitePath(file: string): string | undefined {
  const found = ELSEWHERE.find(([pattern]) => pattern.test(file));
  return found && file.replace(found[0], found[1]).replace(/(?:^|(?<=\/))README\.md$/, 'index.md');
}

/** People who operate a gateway search; pages for those who change its code would only hide what they look for. */
const UNSEARCHED = /^(?:contributing\/|protocols\/|reference\/service\.md$|changelog)/;

interface Staged {
  readonly pages: ReadonlyMap<string, string>;
  /** Files of the repository that pages link to. */
  readonly files: ReadonlySet<string>;
}

export function stagedPages(root: string): Staged {
  const sources = globSync([...SOURCES], { cwd: root, exclude: ['docs/site/**'] });
  const files = new Set<string>();
  const staged = sources.flatMap((file): (readonly [string, string])[] => {
    const page = sitePath(file);
    if (page === undefined) return [];
    const text = readFileSync(join(root, file), 'utf8');
    const head = UNSEARCHED.test(page) ? '---\nsearch: false\n---\n\n' : '';
    return [[page, head + withLinks(text, (link) => linkInSite({ root, file, page, files }, link))]];
  });
  return { pages: new Map(staged), files };
}

interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** The groups of the site's sidebar: the headings of its first page, and the links below each. */
export function sidebarOf(contents: string): readonly Group[] {
  return contents
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      text: part.split('\n')[0]!,
      items: [...part.matchAll(/\[([^\]]+)\]\(\.\/([^)]+)\)/g)].map(([, text = '', link]) => ({
        text: text.charAt(0).toUpperCase() + text.slice(1),
        link: `/${link!}`,
      })),
    }));
}

interface From {
  readonly root: string;
  readonly file: string;
  readonly page: string;
  readonly files: Set<string>;
}

/** The target of a link as its page in the site has it; undefined where the site has no such target: the text remains, without a link. */
function linkInSite({ root, file, page, files }: From, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  if (path === '') return link;
  const target = join(dirname(file), path).replace(/\/$/, '');
  const shown = INSTEAD[target] ?? target;
  const isFolder = existsSync(join(root, shown)) && statSync(join(root, shown)).isDirectory();
  const place = sitePath(isFolder ? join(shown, 'README.md') : shown);
  const source = isFolder ? join(shown, 'README.md') : shown;
  if (place !== undefined && source.endsWith('.md') && existsSync(join(root, source)))
    return `./${relative(dirname(page), place)}${anchor === undefined ? '' : `#${anchor}`}`;
  if (!FILES.test(target)) return undefined;
  files.add(target);
  return `/files/${target}`;
}

/** The text with the targets of its links replaced, outside of code. */
function withLinks(text: string, targetOf: (link: string) => string | undefined): string {
  const parts = text.split(/(^```[\s\S]*?^```)/m);
  return parts
    .map((part) =>
      part.startsWith('```')
        ? part
        : part.replaceAll(
            /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?![a-z]+:)([^)\s]+)\)/g,
            (_, image: string, label: string, link: string) => {
              const target = targetOf(link);
              return target === undefined ? label : `${image}[${label}](${target})`;
            },
          ),
    )
    .join('');
}
