import { isObject, nearest } from '../../kernel/index.ts';
import type { Report } from '../../kernel/report.ts';
import { showName, showValue } from '../values/show.ts';
import { readField, type Field } from './fields.ts';
import { OPERATORS, type Test } from './operators.ts';
import type { JsonPath } from '../schema/pointer.ts';

/** Builds a result from the parts of a query while it is read. Paths are within the query. */
export interface QueryShape<T> {
  /** The parts of one object, which must all hold. */
  level(parts: readonly T[]): T;
  list(key: '$and' | '$or', queries: readonly T[], path: JsonPath): T;
  not(query: T, path: JsonPath): T;
  /** @param comparisons the comparisons of one field, which must all hold */
  compare(field: Field, comparisons: readonly Comparison[]): T;
  never(path: JsonPath): T;
}

export interface Comparison {
  /** `$eq` for a bare value. */
  readonly operator: string;
  readonly wanted: unknown;
  readonly test: Test;
  readonly path: JsonPath;
}

/** The operators and patterns counted so far in the queries of one config. */
export interface Tally {
  operators: number;
  patterns: number;
}

interface QueryReading {
  /** Undefined for a query that is checked elsewhere: its patterns are not compiled then. */
  readonly report: Report | undefined;
  readonly tally: Tally;
}

export const unchecked = (): QueryReading => ({ report: undefined, tally: { operators: 0, patterns: 0 } });

const MAX_DEPTH = 8;
const LOGICAL = ['$and', '$or', '$not'];

/**
 * Reads a query and builds the result with `shape`. The checks, the requests and explain use this one reader, so that they
 * cannot interpret a query differently. A mistake is reported, and its part of the query never holds.
 */
export function readQuery<T>(query: unknown, reading: QueryReading, shape: QueryShape<T>): T {
  return readLevel(query, { ...reading, shape, path: [], depth: 1 });
}

interface QueryPlace extends QueryReading {
  readonly path: JsonPath;
}

interface Level<T> extends QueryPlace {
  readonly shape: QueryShape<T>;
  readonly depth: number;
}

const within = <P extends QueryPlace>(place: P, ...path: JsonPath): P => ({ ...place, path: [...place.path, ...path] });

function reportAt(
  { path, report }: QueryPlace,
  message: string,
  on: 'key' | 'value' = 'value',
  suggestion?: string,
): void {
  report?.({ path, on, message, ...(suggestion !== undefined && { suggestion }) });
}

function mistake<T>(level: Level<T>, message: string, on?: 'key' | 'value', suggestion?: string): T {
  reportAt(level, message, on, suggestion);
  return level.shape.never(level.path);
}

function readLevel<T>(query: unknown, level: Level<T>): T {
  if (!isObject(query))
    return mistake(level, `a query must be an object of fields, not ${showValue(query, undefined)}`);
  if (level.depth > MAX_DEPTH) return mistake(level, `queries nest deeper than ${MAX_DEPTH} levels`);
  const entries = Object.entries(query);
  if (entries.length === 0) return mistake(level, 'an empty query matches every request: leave it out');
  return level.shape.level(entries.map(([key, value]) => readEntry(key, value, within(level, key))));
}

function readEntry<T>(key: string, value: unknown, level: Level<T>): T {
  const { path, report, shape } = level;
  if (key === '$not') return shape.not(readLevel(value, { ...count(level), depth: level.depth + 1 }), path);
  if (key === '$and' || key === '$or') return readList(key, value, count(level));
  if (key.startsWith('$')) return misplaced(key, level);
  const field = readField(key, (problem) => report?.({ ...problem, path }));
  return field ? shape.compare(field, readTests(value, field, level)) : shape.never(path);
}

function readList<T>(key: '$and' | '$or', value: unknown, level: Level<T>): T {
  if (!Array.isArray(value) || value.length === 0) {
    const given = Array.isArray(value) ? 'an empty one' : showValue(value, undefined);
    return mistake(level, `\`${key}\` must be a list of queries, not ${given}`);
  }
  const queries = value.map((query, index) => readLevel(query, { ...within(level, index), depth: level.depth + 1 }));
  return level.shape.list(key, queries, level.path);
}

function misplaced<T>(key: string, level: Level<T>): T {
  if (OPERATORS.has(key))
    return mistake(level, `\`${key}\` applies to a field: \`params.max_tokens: { ${key}: … }\``, 'key');
  const suggestion = nearest(key, [...LOGICAL, ...OPERATORS.keys()]);
  return mistake(level, `unknown operator ${showName(key)}`, 'key', suggestion);
}

/** Reads a bare value, or operators that must all hold. */
function readTests(value: unknown, field: Field, level: QueryPlace): readonly Comparison[] {
  const keys = isObject(value) ? Object.keys(value) : [];
  if (isObject(value) && keys.some((key) => key.startsWith('$')))
    return Object.entries(value).map(([operator, wanted]) => {
      const at = within(level, operator);
      const test = readOperator(operator, wanted, { field, level: at, label: operator });
      return { operator, wanted, test, path: at.path };
    });
  const bare = { operator: '$eq', wanted: value, path: level.path };
  const forgotten = keys.find((key) => OPERATORS.has(`$${key}`));
  if (forgotten !== undefined && field.kind !== 'json') {
    reportAt(within(level, forgotten), `${showName(forgotten)} is not an operator`, 'key', `$${forgotten}`);
    return [{ ...bare, test: noTest }];
  }
  if (forgotten !== undefined) adviseOnObject(forgotten, level);
  return [{ ...bare, test: readOperator('$eq', value, { field, level, label: field.name }) }];
}

/** Warns that an object without operators is compared as a whole. */
function adviseOnObject(forgotten: string, { path, report }: QueryPlace): void {
  const message = `an object with the key \`${forgotten}\` is compared as a whole; if that is intended, write it under \`$eq\``;
  const place = { path: [...path, forgotten], on: 'key', severity: 'warning' } as const;
  report?.({ ...place, message, suggestion: `$${forgotten}` });
}

interface OperatorPlace {
  readonly field: Field;
  readonly level: QueryPlace;
  /** The operator, or the field where none is written. */
  readonly label: string;
}

const noTest: Test = () => false;

function readOperator(name: string, operand: unknown, { field, level, label }: OperatorPlace): Test {
  const operator = OPERATORS.get(name);
  if (!operator) {
    notAnOperator(name, field, level);
    return noTest;
  }
  count(level, name === '$regex');
  const checked = level.report && level.tally.patterns <= MAX_PATTERNS;
  const wrong = checked ? operator.mistake(operand, field) : undefined;
  if (!wrong) {
    if (name === '$regex' && field.name !== 'path') adviseOnSlashes(operand, level);
    return operator.test(operand, field);
  }
  const place = `\`${label}${wrong.path.map((index) => `[${index}]`).join('')}\``;
  const message = wrong.sentence ? wrong.message : `${place} ${wrong.message}`;
  reportAt(within(level, ...wrong.path), message, 'value', wrong.suggestion);
  return noTest;
}

/** A pattern in JavaScript notation, with flags. */
const IN_SLASHES = /^\/(.+)\/[gimsuy]+$/;

function adviseOnSlashes(pattern: unknown, { path, report }: QueryPlace): void {
  const [, inner] = (typeof pattern === 'string' && IN_SLASHES.exec(pattern)) || [];
  if (inner === undefined) return;
  const message = 'slashes and flags are part of the pattern here: prefix it with `(?i)` to ignore case';
  report?.({ path, severity: 'warning', message });
}

function notAnOperator(name: string, { name: field }: Field, level: QueryPlace): void {
  const [open, close] = name === '$not' ? ['', ''] : ['[', ']'];
  const example = `\`${name}: ${open}{ ${field}: … }${close}\``;
  if (LOGICAL.includes(name)) reportAt(level, `\`${name}\` applies to whole queries: ${example}`, 'key');
  else if (name.startsWith('$'))
    reportAt(level, `unknown operator ${showName(name)}`, 'key', nearest(name, OPERATORS.keys()));
  else
    reportAt(
      level,
      `${showName(name)} is beside operators and is not one`,
      'key',
      nearest(`$${name}`, OPERATORS.keys()),
    );
}

const MAX_OPERATORS = 256;
const MAX_PATTERNS = 32;

/** Counts an operator, and reports the limit once, at the first operator beyond it. */
function count<P extends QueryPlace>(level: P, pattern = false): P {
  const { tally } = level;
  tally.operators += 1;
  if (pattern) tally.patterns += 1;
  if (tally.operators === MAX_OPERATORS + 1)
    reportAt(level, `the queries of this config have more than ${MAX_OPERATORS} operators`);
  if (pattern && tally.patterns === MAX_PATTERNS + 1)
    reportAt(level, `the queries of this config have more than ${MAX_PATTERNS} \`$regex\``);
  return level;
}
