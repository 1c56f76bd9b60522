import type { HeaderPath, HeaderPaths, HeaderReason } from '../header-paths.ts';
import { printBlock, printSection, row, span, type PageFormat, type Row } from '../../../../core/commands/layout.ts';
import { aside, from, sourceText } from './words.ts';

/** Renders the headers that can reach each provider as text. A header for several targets is one entry. */
export function renderHeaderPaths(reported: HeaderPaths, page: PageFormat): string {
  const byProvider = Map.groupBy(reported.paths, ({ provider }) => provider);
  const blocks = [
    ...[...byProvider].map(([provider, paths]) => printBlock(providerRows(provider, paths), page)),
    printSection({ label: 'never', rows: neverRows(reported.never) }, page),
    printSection({ label: 'notes', rows: reported.notes.map((note) => row(note)) }, page),
  ];
  return `${blocks.flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')])).join('\n\n')}\n`;
}

/** Groups headers with the same reason. */
const neverRows = (never: HeaderPaths['never']): Row[] =>
  [...Map.groupBy(never, ({ why }) => why)].flatMap(([why, headers]) => [
    row(headers.map(({ header }) => header).join(', ')),
    row([aside(`  ${why}`)]),
  ]);

const REASONS = {
  forwarded: 'the config forwards it',
  spoken: 'it is part of the upstream’s API',
  credential: 'the provider gets the caller’s own credential',
} as const satisfies Record<HeaderReason, string>;

function providerRows(provider: string, paths: readonly HeaderPath[]): Row[] {
  const groups = Map.groupBy(paths, ({ header, as, why, source }) => [header, as, why, sourceText(source)].join('\n'));
  return [row([span(provider, 'title')]), ...[...groups.values()].flatMap(headerRows)];
}

function headerRows(paths: readonly HeaderPath[]): Row[] {
  const [{ header, as, why, source }] = paths as readonly [HeaderPath];
  const renamed = as === header ? [] : [span(` as ${as}`)];
  return [
    row([span('  '), span(header, 'value'), ...renamed, aside(`  ${REASONS[why]}`)], from(source)),
    row([aside(`    ${whereText(paths)}`)]),
  ];
}

/** Maximum configs, and targets per config, that are listed; the rest are counted. */
const MOST = 3;

function whereText(paths: readonly HeaderPath[]): string {
  const byConfig = Map.groupBy(paths, ({ config }) => config);
  const places = [...byConfig].map(([config, targets]) =>
    config === undefined ? 'requests without a config' : `${config} (${few(targets.map(({ target }) => target))})`,
  );
  return few(places);
}

const few = (items: readonly string[]): string =>
  items.length > MOST ? `${items.slice(0, MOST).join(', ')} and ${items.length - MOST} more` : items.join(', ');

/** JSON with every path as its own entry. */
export const headerPathsJson = (reported: HeaderPaths): string => `${JSON.stringify(reported, null, 2)}\n`;
