import type { ChangeTold, FieldTold, OutboundTold, FieldSource, TargetTold } from '../explanation.ts';
import { row, span, type Line, type Row } from './layout.ts';
import { arrow, aside, count, from, placeText, shortText, sourceText, valueText } from './words.ts';
import { isObject } from '../../../formats/json/object.ts';

/** What the settings changed of the client's body; what they left alone is named only. */
export function bodyRows({ body, changes }: Pick<TargetTold, 'body' | 'changes'>): Row[] {
  const changed = new Set(changes.map(({ path }) => path.split('.')[0]));
  const left = isObject(body) ? Object.keys(body).filter((name) => !changed.has(name)) : [];
  return [...changes.map(changeRow), ...asSentRows(left.map((name) => nameWithCount(name, valueAt(body, name))))];
}

function changeRow(change: ChangeTold): Row {
  const { path, action, source } = change;
  const said =
    'was' in change ? `client said ${valueText(change.was)}` : action === 'default' ? 'client said nothing' : '';
  const right: Line = [...from(source), ...(said === '' ? [] : [aside(` (${said})`)])];
  if (action === 'removed') return row([span(path), span(' removed', 'warn')], right);
  return row([span(`${path}: `), span(valueText(change.value), 'value')], right);
}

const asSentRows = (names: readonly string[]): Row[] =>
  names.length === 0 ? [] : [row([aside(`as sent: ${names.join(', ')}`)])];

/** `messages (14)` */
const nameWithCount = (name: string, value: unknown): string =>
  Array.isArray(value) ? `${name} (${value.length})` : name;

export const sendRows = ({ method, url, urlSources, bytes, calls, stream }: OutboundTold): Row[] => [
  { ...row([span(`${method} ${url}`, 'value')]), whole: true },
  ...(urlSources.length === 0 ? [] : [row(sourcesLine(urlSources.map(sourceText)))]),
  row([
    aside(
      [
        count(bytes, 'byte'),
        ...(stream ? ['stream'] : []),
        ...(calls > 1 ? [`in ${calls} calls, the first of them here`] : []),
      ].join(', '),
    ),
  ]),
];

export const headerRows = ({ headers }: OutboundTold): Row[] =>
  headers.map(({ name, value, source, also = [], allowedBy }) => {
    // The caller says it, and a line of the config lets it through.
    const allowed = allowedBy ? ` ← ${sourceText(allowedBy)}` : '';
    return row(`${name}: ${shortText(value, 100)}`, sourcesLine([source, ...also].map(sourceText), allowed));
  });

/** More of them nobody reads in a terminal. */
const MOST_FIELDS = 40;

/**
 * The body that leaves, field by field, with the field of the client's body that each comes from and, where the settings have set that
 * one, their place. A list is one line; what the settings or headers put into it has lines of its own.
 */
export function fieldRows({ body, fields }: OutboundTold, changes: readonly ChangeTold[]): Row[] {
  if (!isObject(body)) return body === undefined || body === null ? [] : [row(valueText(body))];
  if (fields.length === 0) return Object.entries(body).map(([name, value]) => row(fieldText(name, value)));
  const groups = Map.groupBy(fields, ({ path }) => listOf(path) ?? path);
  const told = [...groups].flatMap(([path, group]) => tellGroup({ path, group, value: valueAt(body, path) }, changes));
  const rows = told.flatMap(({ row: one }) => one ?? []);
  const more = rows.length - MOST_FIELDS;
  return [
    ...rows.slice(0, MOST_FIELDS),
    ...(more > 0 ? [row([aside(`and ${more} more; --json has all`)])] : []),
    ...asSentRows(told.flatMap(({ asSent }) => asSent ?? [])),
  ];
}

interface FieldGroup {
  /** Of a field, or of the list it is in. */
  readonly path: string;
  readonly group: readonly FieldTold[];
  readonly value: unknown;
}

interface ToldGroup {
  readonly row?: Row;
  readonly asSent?: string;
}

function tellGroup({ path, group, value }: FieldGroup, changes: readonly ChangeTold[]): ToldGroup[] {
  if (group.every((field) => isAsSent(field, changes))) return [{ asSent: nameWithCount(path, value) }];
  const inList = group.some((field) => field.path !== path);
  const apart = inList && group.length > 1 ? group.filter(({ sources }) => sources.some(isNoClients)) : [];
  const ownTexts = new Set(apart.map((field) => insideText(field, changes)));
  // All of it has been put there by one line: it says so once, and a field of the same name is not named again.
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

const insideText = ({ path, sources }: FieldTold, changes: readonly ChangeTold[]): string =>
  [...new Set(sources.map((source) => chainText(source, { path, changes, inList: false })))].join(' + ');

function insideRow(
  field: FieldTold,
  { path, value, changes }: Pick<FieldGroup, 'path' | 'value'> & { changes: readonly ChangeTold[] },
): Row {
  const inner = valueAt(value, field.path.slice(path.length + 1));
  const texts = field.sources.map((source) => chainText(source, { path: field.path, changes, inList: false }));
  return row([span(`  ${field.path}: `), span(valueText(inner), 'value')], sourcesLine(texts));
}

/** `messages` of `messages.0.content`: the outermost list that a field is in. */
function listOf(path: string): string | undefined {
  const segments = path.split('.');
  const index = segments.findIndex((segment, position) => position > 0 && /^\d+$/.test(segment));
  return index === -1 ? undefined : segments.slice(0, index).join('.');
}

const isNoClients = ({ kind }: FieldSource): boolean => kind === 'settings' || kind === 'header';

const isAsSent = ({ path, sources }: FieldTold, changes: readonly ChangeTold[]): boolean =>
  sources.length === 1 &&
  sources.every((source) => source.kind === 'client' && source.path === path && !changeOf(source.path, changes));

const changeOf = (path: string, changes: readonly ChangeTold[]): ChangeTold | undefined =>
  changes.find(
    (change) => path === change.path || path.startsWith(`${change.path}.`) || change.path.startsWith(`${path}.`),
  );

interface Shown {
  /** Of the outbound field: a client's field of the same name is not named again. */
  readonly path: string;
  readonly changes: readonly ChangeTold[];
  readonly inList: boolean;
}

/** `max_tokens ← configs/gateway/prod.yaml:14:7`, whether the field is told by its place in the client's body or in the settings. */
function chainText(source: FieldSource, { path, changes, inList }: Shown): string {
  const change =
    source.kind === 'client' ? changeOf(source.path, changes) : changes.find((one) => isSame(one.source, source));
  const client = source.kind === 'client' ? source.path : change?.path;
  const name = client !== undefined && inList ? (listOf(client) ?? client) : client;
  const last = change?.source ?? (source.kind === 'client' ? undefined : source);
  const said = name === undefined || (name === path && last) ? [] : [name];
  return [...said, ...(last ? [sourceText(last)] : [])].join(' ← ');
}

const isSame = (one: FieldSource, other: FieldSource): boolean =>
  one.kind === 'settings' &&
  other.kind === 'settings' &&
  one.setting === other.setting &&
  placeText(one.at) === placeText(other.at);

const MOST_SOURCES = 3;

function sourcesLine(texts: readonly string[], behind = ''): Line {
  const told = texts.filter((text) => text !== '');
  const more = told.length - MOST_SOURCES;
  const shown = more > 0 ? [...told.slice(0, MOST_SOURCES), `${more} more`] : told;
  return shown.length === 0 ? [] : arrow(shown.join(' + ') + behind);
}

const fieldText = (name: string, value: unknown): string => `${name}: ${groupValue(value, Array.isArray(value))}`;

function groupValue(value: unknown, inList: boolean): string {
  const isShort = Array.isArray(value) && value.every((item) => typeof item !== 'object');
  return inList && Array.isArray(value) && !isShort ? count(value.length, 'item') : valueText(value);
}

/** A name may hold a dot itself, so the longest that fits is taken first. */
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
