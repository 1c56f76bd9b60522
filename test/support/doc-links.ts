/** Links between sources and Markdown pages: how to find them, and the anchors that a page offers. */

export interface Link {
  /** Without its anchor; empty for a link within its own page. */
  readonly path: string;
  readonly anchor: string | undefined;
}

const withoutFences = (markdown: string): string => markdown.replaceAll(/^```[\s\S]*?^```/gm, '');

/** GitHub's anchor of a heading: lowercase letters, digits, `_` and `-`, a dash for each space. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Anchors of a page in order: its headings, a repeated one with a number as on GitHub, and ids that it sets itself. */
export function anchorsOf(markdown: string): readonly string[] {
  const seen = new Map<string, number>();
  const anchors: string[] = [];
  for (const [, heading, id] of withoutFences(markdown).matchAll(/^#{1,6} (.*)$|<a id="([^"]+)"><\/a>/gm)) {
    if (id !== undefined) anchors.push(id);
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const repeats = seen.get(slug) ?? 0;
    seen.set(slug, repeats + 1);
    anchors.push(repeats === 0 ? slug : `${slug}-${repeats}`);
  }
  return anchors;
}

/** Links of a Markdown page to files of the repository. */
export function linksOf(markdown: string): readonly Link[] {
  const found = withoutFences(markdown).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
  return [...found].map(([, path, anchor]) => ({ path: path!, anchor }));
}

/** Pages below `docs/` that a text cites, from the root of the repository. */
export function citationsOf(text: string): readonly Link[] {
  const found = text.matchAll(/(?<![\w./-])(docs\/[\w./-]+\.md)(?:#([\w-]+))?/g);
  return [...found].map(([, path, anchor]) => ({ path: path!, anchor }));
}

/** The comments of a source in TypeScript, joined. */
export const commentsOf = (source: string): string =>
  (source.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? []).join('\n');

/** Markdown files that a text names, with or without a folder. Addresses on the web are not files. */
export const pagesIn = (text: string): readonly string[] =>
  [...text.replaceAll(/https?:\S+/g, '').matchAll(/(?<![\w./-])[\w./-]+\.md\b/g)].map(([page]) => page);
