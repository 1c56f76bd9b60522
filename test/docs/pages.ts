/** The pages for users, and the examples in them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFile } from '../../src/core/kernel/package-root.ts';

export const ROOT = packageFile('');

/** All that a person who runs the gateway reads. Pages for contributors and the facts about vendors have no examples of use. */
export const PAGES: readonly string[] = [
  'README.md',
  ...globSync('docs/**/*.md', {
    cwd: ROOT,
    exclude: ['docs/site/**', 'docs/contributing/**', 'docs/protocols/**'],
  }).toSorted(),
];

export const readPage = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

export interface Fence {
  /** The language; empty for pictures, and for lines that only show the form of something. */
  readonly kind: string;
  readonly code: string;
}

export const fencesOf = (text: string): readonly Fence[] =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, kind, code]) => ({ kind: kind!, code: code! }));

export const fences = (text: string, language: string): readonly string[] =>
  fencesOf(text).flatMap(({ kind, code }) => (kind === language ? [code] : []));
