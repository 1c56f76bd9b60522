import type {
  ChangeExplanation,
  FieldExplanation,
  OutboundExplanation,
  FieldSource,
  TargetExplanation,
} from '../explanation.ts';
import { row, span, type Line, type Row } from '../../../../core/commands/layout.ts';
import { arrow, aside, count, from, placeText, shortText, sourceText, valueText } from './words.ts';
import { isObject } from '../../../../formats/json/object.ts';

/** The changes of the settings to the client's body; unchanged fields are only named. */
export function bodyRows({ body, changes }: Pick<TargetExplanation, 'body' | 'changes'>): Row[] {
  const changed = new Set(changes.map(({ path }) => path.split('.')[0]));
  const left = isObject(body) ? Object.keys(body).filter((name) => !changed.has(name)) : [];
  return [...changes.map(changeRow), ...unchangedRows(left.map((name) => nameWithCount(name, valueAt(body, name))))];
}

function changeRow(change: ChangeExplanation): Row {
  const { path, action, source } = change;
  const note =
    'was' in change ? `client sent ${valueText(change.was)}` : action === 'default' ? 'client sent nothing' : '';
  const right: Line = [...from(source), ...(note === '' ? [] : [aside(` (${note})`)])];
  if (action === 'removed') return row([span(path), span(' removed', 'warn')], right);
  return row([span(`${path}: `), span(valueText(change.value), 'value')], right);
}

const unchangedRows = (names: readonly string[]): Row[] =>
  names.length === 0 ? [] : [row([aside(`unchanged: ${names.join(', ')}`)])];

/** `messages (14)` */
const nameWithCount = (name: string, value: unknown): string =>
  Array.isArray(value) ? `${name} (${value.length})` : name;

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

/** Maximum fields shown in a terminal. */
const MOST_FIELDS = 40;

/**
 * The sent body, field by field, each with the client's field that it comes from and the place in the settings that set
 * it. A list is one line; elements from settings or headers have lines of their own.
 */
export function fieldRows({ body, fields }: OutboundExplanation, changes: readonly ChangeExplanation[]): Row[] {
  if (!isObject(body)) return body === undefined || body === null ? [] : [row(valueText(body))];
  if (fields.length === 0) return Object.entries(body).map(([name, value]) => row(fieldText(name, value)));
  const groups = Map.groupBy(fields, ({ path }) => listOf(path) ?? path);
  const reported = [...groups].flatMap(([path, group]) =>
    describeGroup({ path, group, value: valueAt(body, path) }, changes),
  );
  const rows = reported.flatMap(({ row: one }) => one ?? []);
  const more = rows.length - MOST_FIELDS;
  return [
    ...rows.slice(0, MOST_FIELDS),
    ...(more > 0 ? [row([aside(`and ${more} more; --json shows all`)])] : []),
    ...unchangedRows(reported.flatMap(({ unchanged }) => unchanged ?? [])),
  ];
}

interface FieldGroup {
  /** Path of a field or of its enclosing list. */
  readonly path: string;
  readonly group: readonly FieldExplanation[];
  readonly value: unknown;
}

interface DescribedGroup {
  readonly row?: Row;
  readonly unchanged?: string;
}

function describeGroup({ path, group, value }: FieldGroup, changes: readonly ChangeExplanation[]): DescribedGroup[] {
  if (group.every((field) => isUnchanged(field, changes))) return [{ unchanged: nameWithCount(path, value) }];
  const inList = group.some((field) => field.path !== path);
  const apart = inList && group.length > 1 ? group.filter(({ sources }) => sources.some(isNoClients)) : [];
  const ownTexts = new Set(apart.map((field) => insideText(field, changes)));
  // All of it comes from one line of the settings, so its source is shown once, without repeating an equal field name.
  if (apart.length === group.length && ownTexts.size === 1) {
    const own = `${path} ← `;
    const texts = [...ownTexts].map((text) => (text.startsWith(own) ? text.slice(own.length) : text));
    return [{ row: row([span(`${path}: `), span(groupValue(value, inList), 'value')], sourcesLine(texts)) }];
  }
  const sources = group.filter((field) => !apart.includes(field)).flatMap((field) => field.sources);
  const texts = [...new Set(sources.map((source) => chainText(source, { path, changes, inList })))];
  return [
    { row: row([span(`${path}: `), span(groupValue(value, inList), 'value')], sourcesLine(texts)) },
    ...apart.map((field) => ({ row: insideRow(field, { path, value, changes }) })),
  ];
}

const insideText = ({ path, sources }: FieldExplanation, changes: readonly ChangeExplanation[]): string =>
  [...new Set(sources.map((source) => chainText(source, { path, changes, inList: false })))].join(' + ');

function insideRow(
  field: FieldExplanation,
  { path, value, changes }: Pick<FieldGroup, 'path' | 'value'> & { changes: readonly ChangeExplanation[] },
): Row {
  const inner = valueAt(value, field.path.slice(path.length + 1));
  const texts = field.sources.map((source) => chainText(source, { path: field.path, changes, inList: false }));
  return row([span(`  ${field.path}: `), span(valueText(inner), 'value')], sourcesLine(texts));
}

/** `messages` of `messages.0.content`: the outermost enclosing list. */
function listOf(path: string): string | undefined {
  const segments = path.split('.');
  const index = segments.findIndex((segment, position) => position > 0 && /^\d+$/.test(segment));
  return index === -1 ? undefined : segments.slice(0, index).join('.');
}

const isNoClients = ({ kind }: FieldSource): boolean => kind === 'settings' || kind === 'header';

const isUnchanged = ({ path, sources }: FieldExplanation, changes: readonly ChangeExplanation[]): boolean =>
  sources.length === 1 &&
  sources.every((source) => source.kind === 'client' && source.path === path && !changeOf(source.path, changes));

const changeOf = (path: string, changes: readonly ChangeExplanation[]): ChangeExplanation | undefined =>
  changes.find(
    (change) => path === change.path || path.startsWith(`${change.path}.`) || change.path.startsWith(`${path}.`),
  );

interface Shown {
  /** Path of the outbound field; an equal client path is not repeated. */
  readonly path: string;
  readonly changes: readonly ChangeExplanation[];
  readonly inList: boolean;
}

/** `max_tokens ← configs/gateway/prod.yaml:14:7`, for a source in the client's body or in the settings. */
function chainText(source: FieldSource, { path, changes, inList }: Shown): string {
  const change =
    source.kind === 'client' ? changeOf(source.path, changes) : changes.find((one) => isSame(one.source, source));
  const client = source.kind === 'client' ? source.path : change?.path;
  const name = client !== undefined && inList ? (listOf(client) ?? client) : client;
  const last = change?.source ?? (source.kind === 'client' ? undefined : source);
  const note = name === undefined || (name === path && last) ? [] : [name];
  return [...note, ...(last ? [sourceText(last)] : [])].join(' ← ');
}

const isSame = (one: FieldSource, other: FieldSource): boolean =>
  one.kind === 'settings' &&
  other.kind === 'settings' &&
  one.setting === other.setting &&
  placeText(one.at) === placeText(other.at);

const MOST_SOURCES = 3;

function sourcesLine(texts: readonly string[], behind = ''): Line {
  const reported = texts.filter((text) => text !== '');
  const more = reported.length - MOST_SOURCES;
  const shown = more > 0 ? [...reported.slice(0, MOST_SOURCES), `${more} more`] : reported;
  return shown.length === 0 ? [] : arrow(shown.join(' + ') + behind);
}

const fieldText = (name: string, value: unknown): string => `${name}: ${groupValue(value, Array.isArray(value))}`;

function groupValue(value: unknown, inList: boolean): string {
  const isShort = Array.isArray(value) && value.every((item) => typeof item !== 'object');
  return inList && Array.isArray(value) && !isShort ? count(value.length, 'item') : valueText(value);
}

/** A name may contain a dot itself, so the longest matching name is tried first. */
function valueAt(value: unknown, path: string): unknown {
  if (path === '' || typeof value !== 'object' || value === null) return path === '' ? value : undefined;
  const members = new Map<string, unknown>(Object.entries(value));
  if (members.has(path)) return members.get(path);
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const name = path.slice(0, dot);
    if (members.has(name)) return valueAt(members.get(name), path.slice(dot + 1));
  }
  return undefined;
}
