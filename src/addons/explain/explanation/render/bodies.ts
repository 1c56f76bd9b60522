import type {
  ChangeExplanation,
  DifferenceExplanation,
  OutboundExplanation,
  TargetExplanation,
} from '../explanation.ts';
import { row, span, type Line, type Row } from './layout.ts';
import { arrow, aside, count, from, shortText, sourceText, valueText } from './words.ts';
import { isObject } from '../../../../formats/json/object.ts';

/** The changes of the settings to the client's body; unchanged fields are only named. */
export const bodyRows = ({ body, changes }: Pick<TargetExplanation, 'body' | 'changes'>): Row[] => [
  ...changes.map(changeRow),
  ...unchangedRows(body, changes),
];

function changeRow(change: ChangeExplanation): Row {
  const { path, action, source } = change;
  const note =
    'was' in change ? `client sent ${valueText(change.was)}` : action === 'default' ? 'client sent nothing' : '';
  const right: Line = [...from(source), ...(note === '' ? [] : [aside(` (${note})`)])];
  if (action === 'removed') return row([span(path), span(' removed', 'warn')], right);
  return row([span(`${path}: `), span(valueText(change.value), 'value')], right);
}

export const sendRows = ({ method, url, urlSources, bytes, calls, stream }: OutboundExplanation): Row[] => [
  { ...row([span(`${method} ${url}`, 'value')]), whole: true },
  ...(urlSources.length === 0 ? [] : [row(sourcesLine(urlSources.map(sourceText)))]),
  row([
    aside(
      [
        count(bytes, 'byte'),
        ...(stream ? ['stream'] : []),
        ...(calls > 1 ? [`in ${calls} calls; the first is shown`] : []),
      ].join(', '),
    ),
  ]),
];

export const headerRows = ({ headers }: Pick<OutboundExplanation, 'headers'>): Row[] =>
  headers.map(({ name, value, source, also = [], allowedBy }) => {
    // The caller's header, and the line of the config that forwards it.
    const allowed = allowedBy ? ` ← ${sourceText(allowedBy)}` : '';
    return row(`${name}: ${shortText(value, 100)}`, sourcesLine([source, ...also].map(sourceText), allowed));
  });

const MOST_DIFFERENCES = 40;

/** The client's body against the sent one; equal fields are only named. */
export function diffRows({ body, diff }: Pick<OutboundExplanation, 'body' | 'diff'>): Row[] {
  const more = diff.length - MOST_DIFFERENCES;
  const rest = more > 0 ? [row([aside(`and ${more} more; --json shows all`)])] : [];
  return [...diff.slice(0, MOST_DIFFERENCES).flatMap(differenceRows), ...rest, ...unchangedRows(body, diff)];
}

function differenceRows({ path, received, sent, source }: DifferenceExplanation): Row[] {
  const right = source && from(source);
  const name = path === '' ? '' : `${path}: `;
  return [
    ...(received === undefined ? [] : [row([span(`- ${name}${received}`, 'bad')], sent === undefined ? right : [])]),
    ...(sent === undefined ? [] : [row([span(`+ ${name}${sent}`, 'good')], right)]),
  ];
}

/** The fields of a body that no path leads to. */
function unchangedRows(body: unknown, changed: readonly { readonly path: string }[]): Row[] {
  const names = new Set(changed.map(({ path }) => path.split('.')[0]));
  const left = isObject(body) ? Object.entries(body).filter(([name]) => !names.has(name)) : [];
  const texts = left.map(([name, value]) => (Array.isArray(value) ? `${name} (${value.length})` : name));
  return texts.length === 0 ? [] : [row([aside(`unchanged: ${texts.join(', ')}`)])];
}

const MOST_SOURCES = 3;

function sourcesLine(texts: readonly string[], behind = ''): Line {
  const reported = texts.filter((text) => text !== '');
  const more = reported.length - MOST_SOURCES;
  const shown = more > 0 ? [...reported.slice(0, MOST_SOURCES), `${more} more`] : reported;
  return shown.length === 0 ? [] : arrow(shown.join(' + ') + behind);
}
