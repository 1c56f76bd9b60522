import { isObject } from '../../../core/kernel/index.ts';
import type { AnswerName } from '../api/answer-schemas.ts';
import { requestText } from './request-text.ts';
import type { AdminCall } from './call.ts';
import { textTable } from '../../../core/kernel/layout.ts';

/** Columns of tables: a field, or a field of a field. The others are in the JSON. */
const COLUMNS: Readonly<Partial<Record<AnswerName, readonly string[]>>> = {
  organization: ['id', 'owner', 'updated_by', 'updated_at'],
  team: ['id', 'owner', 'spec.organization', 'updated_by', 'updated_at'],
  key: ['id', 'state', 'owner', 'spec.team', 'spec.expires_at', 'last_used.at', 'updated_by'],
  limit: ['id', 'spec.node', 'spec.requests', 'spec.tokens', 'spec.concurrency', 'updated_by'],
  budget: ['id', 'node', 'spec.cap', 'unit', 'spent', 'leased', 'unreconciled', 'period_end', 'owner'],
  provider: ['slug', 'provider', 'owner', 'credential.kind', 'base_url', 'problem'],
  token: ['id', 'role', 'state', 'expires_at', 'last4', 'updated_by'],
  ledger_row: ['at', 'request_id', 'att', 'kind', 'key', 'team', 'model', 'status', 'input', 'output', 'cost_usd'],
  request_line: [
    'time',
    'request_id',
    'state',
    'status',
    'error.code',
    'duration_ms',
    'key_id',
    'config_id',
    'target_name',
    'provider',
    'request_model',
    'attempts',
  ],
  prompt_cache: ['key', 'model', 'requests', 'input', 'cache_read', 'cache_write', 'misses', 'causes'],
  capture: ['id', 'state', 'captured', 'requests', 'by', 'until', 'gone_at'],
  audit_row: ['seq', 'at', 'actor', 'role', 'action', 'kind', 'id', 'reason'],
};

const USAGE = ['requests', 'attempts', 'input', 'cacheRead', 'output', 'cost_usd'] as const;

type Shown = Readonly<Record<string, unknown>>;

/** An answer as text: a table for a list, lines for an object, or JSON. */
export function showAnswer(answer: unknown, { route, operation, target, values }: AdminCall): string {
  if (values.output === 'json' || !isObject(answer) || operation === 'openapi.get')
    return `${JSON.stringify(answer, null, 2)}\n`;
  const { items } = answer;
  if (Array.isArray(items)) return table(items.filter(isObject).map(shownRow), columnsOf(route.answer, target));
  return operation === 'requests.get' ? plainLines(requestText(answer)) : lines(answer);
}

/** `rescued` is the state that matters to a reader. */
const shownRow = (row: Shown): Shown => (row['rescued'] === true ? { ...row, state: 'rescued' } : row);

export function gapsOf(answer: unknown): string {
  if (!isObject(answer) || !Array.isArray(answer['partial'])) return '';
  const silent = answer['partial'].map(
    (worker) => `Worker ${String(worker)} does not answer: its requests are missing.\n`,
  );
  const { oldest } = answer;
  return [
    ...silent,
    ...(typeof oldest === 'string' ? [`The oldest request that is kept arrived at ${oldest}.\n`] : []),
  ].join('');
}

function columnsOf(answer: AnswerName | undefined, target: string): readonly string[] {
  const by = new URLSearchParams(target.split('?', 2)[1]).get('by') ?? '';
  if (answer === 'usage_row')
    return [
      'start',
      ...by
        .split(',')
        .filter((name) => name !== '')
        .map(fieldOf),
      ...USAGE,
    ];
  return (answer && COLUMNS[answer]) ?? ['id'];
}

const fieldOf = (name: string): string => (name.startsWith('label.') ? name.replace('label.', 'labels.') : name);

function valueAt(row: Shown, path: string): string {
  const value = path.split('.').reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), row);
  return value === undefined || value === null || value === '' ? '-' : plain(cell(value));
}

const cell = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Control characters would move the cursor of a terminal. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\uFFFD');
const plainLines = (text: string): string => text.split('\n').map(plain).join('\n');

function table(rows: readonly Shown[], columns: readonly string[]): string {
  const heads = columns.map((column) => column.split('.').at(-1)!.replaceAll('_', ' ').toUpperCase());
  return textTable([heads, ...rows.map((row) => columns.map((column) => valueAt(row, column)))]);
}

function lines(answer: Shown): string {
  const { object, ...rest } = answer;
  const secret = ['key', 'token'].flatMap((name) =>
    isObject(object) && typeof rest[name] === 'string'
      ? [`The ${name} (shown once, stored nowhere):\n\n  ${rest[name]}\n\n`]
      : [],
  );
  const shown = Object.entries(isObject(object) ? object : answer);
  const width = Math.max(...shown.map(([name]) => name.length));
  return [
    ...secret,
    ...shown.map(([name, value]) => `${name.padEnd(width)}  ${value === null ? '-' : plain(cell(value))}\n`),
  ].join('');
}
