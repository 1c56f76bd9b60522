/** Checks the built site: its search answers questions, its links lead somewhere, and a browser loads nothing from elsewhere. */
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { dirname, normalize } from 'node:path/posix';
import { runInNewContext } from 'node:vm';
import { ERRORS } from '../../src/plugin/error-codes.ts';
import { QUESTIONS } from './questions.ts';

/** A person reads so many results of a search. */
const RESULTS = 3;

interface Index {
  readonly search: (query: string, options: object) => readonly { readonly id: string }[];
}
interface SiteData {
  readonly themeConfig: {
    readonly search: { readonly options: { readonly miniSearch: { readonly searchOptions: object } } };
  };
}
interface MiniSearch {
  readonly loadJSON: (json: string, options: object) => Index;
}

/** @param installed the folder with the packages that built the site */
export async function checkSite(site: string, installed: string): Promise<void> {
  const faults = [...deadLinks(site), ...foreignAddresses(site), ...(await unansweredQuestions(site, installed))];
  const pages = globSync('**/*.html', { cwd: site }).length;
  if (faults.length > 0) throw new Error(`the site has ${faults.length} faults:\n${faults.join('\n')}`);
  process.stdout.write(
    `${pages} pages: links lead to pages and anchors, nothing is loaded from elsewhere, ${QUESTIONS.length} questions find their page, and each error its code\n`,
  );
}

/** How the search ranks, as a browser reads it from a page: VitePress writes functions there as text. */
function searchOptionsIn(site: string): object {
  const scripts = [...readFileSync(join(site, 'index.html'), 'utf8').matchAll(/<script[^>]*>([^]*?)<\/script>/g)];
  const script = scripts.find(([, text]) => text!.includes('__VP_SITE_DATA__='))![1]!;
  const window: { __VP_SITE_DATA__?: SiteData } = {};
  runInNewContext(script, { window });
  return window.__VP_SITE_DATA__!.themeConfig.search.options.miniSearch.searchOptions;
}

async function unansweredQuestions(site: string, installed: string): Promise<readonly string[]> {
  const [file] = globSync('assets/chunks/@localSearchIndexroot.*.js', { cwd: site });
  const { default: json } = (await import(join(site, file!))) as { default: string };
  const require = createRequire(join(installed, 'package.json'));
  const { default: MiniSearch } = (await import(require.resolve('minisearch'))) as { default: MiniSearch };
  // As the search box of VitePress 1.6 loads it.
  const index = MiniSearch.loadJSON(json, { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] });
  const searchOptions = searchOptionsIn(site);
  const errors = Object.keys(ERRORS).map((code): readonly [string, string] => [code, `reference/errors.html#${code}`]);
  return [...QUESTIONS, ...errors].flatMap(([question, answer]) => {
    const first = index.search(question, searchOptions).slice(0, RESULTS);
    if (first.some(({ id }) => id === `/${answer}` || id.startsWith(`/${answer}#`))) return [];
    return [`the search for "${question}" finds ${first.map(({ id }) => id).join(', ')}, not /${answer}`];
  });
}

function deadLinks(site: string): readonly string[] {
  const texts = new Map(
    globSync('**/*.html', { cwd: site }).map((file) => [file, readFileSync(join(site, file), 'utf8')]),
  );
  const files = new Set(globSync('**/*', { cwd: site }));
  const ids = new Map(
    [...texts].map(([file, text]) => [file, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!))]),
  );
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/ (?:href|src)="(?![a-z]+:)([^"]*)"/g)].flatMap(([, link]) => {
      const [path = '', anchor] = link!.replaceAll('&amp;', '&').split('#');
      const at = path === '' ? file : path.startsWith('/') ? path.slice(1) : normalize(join(dirname(file), path));
      const target = (at === '' || at.endsWith('/') ? `${at}index.html` : at).replace(/^\.\//, '');
      const leads =
        files.has(target) &&
        (anchor === undefined || anchor === '' || ids.get(target)?.has(decodeURIComponent(anchor)));
      return leads ? [] : [`${file}: ${link!}`];
    }),
  );
}

/** Addresses that a browser loads by itself; links that a person follows may lead anywhere. */
function foreignAddresses(site: string): readonly string[] {
  return globSync('**/*.{html,css}', { cwd: site }).flatMap((file) =>
    [
      ...readFileSync(join(site, file), 'utf8').matchAll(
        /<(?:script|img|iframe|link)\b[^>]*(?:src|href)="((?:https?:)?\/\/[^"]+)"|url\(["']?((?:https?:)?\/\/[^)"']+)/g,
      ),
    ].map(([, tag, style]) => `${file} loads ${(tag ?? style)!}`),
  );
}
