import { nearest, type Exchange, type Report } from '../../plugin/index.ts';
import type { Path } from '../pointer.ts';
import { showName, showValue } from '../show.ts';
import { readField, type Field } from './fields.ts';
import { OPERATORS, type Test } from './operators.ts';

export type Predicate = (exchange: Exchange) => boolean;

/** What the queries of one config have come to so far. */
export interface Tally {
  operators: number;
  patterns: number;
}

export interface Reading {
  /** Undefined for a query that is not to be checked, because it has been or will be: its patterns are not compiled then. */
  readonly report: Report | undefined;
  readonly tally: Tally;
}

const MAX_DEPTH = 8;
const LOGICAL = ['$and', '$or', '$not'];

const never: Predicate = () => false;

/**
 * A query as a predicate. One reader serves the checks and the requests, so that they cannot understand it differently; what has
 * a mistake is told and never holds.
 */
export function readQuery(query: unknown, reading: Reading): Predicate {
  return readLevel(query, { ...reading, path: [], depth: 1 });
}

interface Level extends Reading {
  readonly path: Path;
  readonly depth: number;
}

const within = (level: Level, ...path: Path): Level => ({ ...level, path: [...level.path, ...path] });

function mistake(
  { path, report }: Level,
  message: string,
  on: 'key' | 'value' = 'value',
  suggestion?: string,
): Predicate {
  report?.({ path, on, message, ...(suggestion !== undefined && { suggestion }) });
  return never;
}

function readLevel(query: unknown, level: Level): Predicate {
  if (!isObject(query))
    return mistake(level, `a query must be an object of fields, not ${showValue(query, undefined)}`);
  if (level.depth > MAX_DEPTH) return mistake(level, `queries nest deeper than ${MAX_DEPTH} levels`);
  const entries = Object.entries(query);
  if (entries.length === 0) return mistake(level, 'an empty query holds of every request: leave it out');
  return all(entries.map(([key, value]) => readEntry(key, value, within(level, key))));
}

function readEntry(key: string, value: unknown, level: Level): Predicate {
  if (key === '$not') {
    const holds = readLevel(value, { ...count(level), depth: level.depth + 1 });
    return (exchange) => !holds(exchange);
  }
  if (key === '$and' || key === '$or') return readList(key, value, count(level));
  if (key.startsWith('$')) return misplaced(key, level);
  const { path, report } = level;
  const field = readField(key, (problem) => report?.({ ...problem, path }));
  if (!field) return never;
  const test = readTest(value, field, level);
  return (exchange) => test(field.read(exchange), exchange);
}

function readList(key: '$and' | '$or', value: unknown, level: Level): Predicate {
  if (!Array.isArray(value) || value.length === 0)
    return mistake(
      level,
      `\`${key}\` must be a list of queries, not ${Array.isArray(value) ? 'an empty one' : showValue(value, undefined)}`,
    );
  const holds = value.map((query, index) => readLevel(query, { ...within(level, index), depth: level.depth + 1 }));
  return key === '$and' ? all(holds) : any(holds);
}

function misplaced(key: string, level: Level): Predicate {
  if (OPERATORS.has(key))
    return mistake(level, `\`${key}\` asks about a field: \`params.max_tokens: { ${key}: … }\``, 'key');
  const suggestion = nearest(key, [...LOGICAL, ...OPERATORS.keys()]);
  return mistake(level, `unknown operator ${showName(key)}`, 'key', suggestion);
}

/** A bare value, or operators that hold together. */
function readTest(value: unknown, field: Field, level: Level): Test {
  const keys = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || !keys.some((key) => key.startsWith('$'))) {
    const forgotten = keys.find((key) => OPERATORS.has(`$${key}`));
    if (forgotten !== undefined && field.kind !== 'json') {
      mistake(within(level, forgotten), `${showName(forgotten)} is no operator`, 'key', `$${forgotten}`);
      return noTest;
    }
    if (forgotten !== undefined) adviseOnObject(forgotten, level);
    return readOperator('$eq', value, { field, level, bare: true });
  }
  const tests = Object.entries(value).map(([key, operand]) =>
    readOperator(key, operand, { field, level: within(level, key), bare: false }),
  );
  const [first] = tests;
  if (first && tests.length === 1) return first;
  return (found, exchange) => tests.every((test) => test(found, exchange));
}

/** A list or object without operators is compared whole. */
function adviseOnObject(forgotten: string, level: Level): void {
  const message = `an object with \`${forgotten}\` is asked for as it stands; to ask for just that write it under \`$eq\``;
  level.report?.({
    path: [...level.path, forgotten],
    on: 'key',
    severity: 'warning',
    message,
    suggestion: `$${forgotten}`,
  });
}

interface Asked {
  readonly field: Field;
  readonly level: Level;
  /** The operator is not written, so a mistake is the value's. */
  readonly bare: boolean;
}

const noTest: Test = () => false;

function readOperator(name: string, operand: unknown, { field, level, bare }: Asked): Test {
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
  const label = `\`${bare ? field.name : name}${wrong.path.map((index) => `[${index}]`).join('')}\``;
  const message = wrong.sentence ? wrong.message : `${label} ${wrong.message}`;
  mistake(within(level, ...wrong.path), message, 'value', wrong.suggestion);
  return noTest;
}

/** As JavaScript writes patterns, with flags behind them. */
const IN_SLASHES = /^\/(.+)\/[gimsuy]+$/;

function adviseOnSlashes(pattern: unknown, { path, report }: Level): void {
  const [, inner] = (typeof pattern === 'string' && IN_SLASHES.exec(pattern)) || [];
  if (inner === undefined) return;
  const message = 'slashes and flags are part of the pattern here: write `(?i)` before it for any case';
  report?.({ path, severity: 'warning', message });
}

function notAnOperator(name: string, { name: field }: Field, level: Level): void {
  if (LOGICAL.includes(name)) {
    mistake(
      level,
      `\`${name}\` stands around whole queries: \`${name}: ${name === '$not' ? '' : '['}{ ${field}: … }${name === '$not' ? '' : ']'}\``,
      'key',
    );
    return;
  }
  if (name.startsWith('$')) {
    mistake(level, `unknown operator ${showName(name)}`, 'key', nearest(name, OPERATORS.keys()));
    return;
  }
  mistake(level, `${showName(name)} stands among operators and is none`, 'key', nearest(`$${name}`, OPERATORS.keys()));
}

const MAX_OPERATORS = 256;
const MAX_PATTERNS = 32;

/** Told once, where it is one too many. */
function count(level: Level, pattern = false): Level {
  const { tally } = level;
  tally.operators += 1;
  if (pattern) tally.patterns += 1;
  if (tally.operators === MAX_OPERATORS + 1)
    mistake(level, `the queries of this config have more than ${MAX_OPERATORS} operators`);
  if (pattern && tally.patterns === MAX_PATTERNS + 1)
    mistake(level, `the queries of this config have more than ${MAX_PATTERNS} \`$regex\``);
  return level;
}

function all(predicates: readonly Predicate[]): Predicate {
  const [first] = predicates;
  if (first && predicates.length === 1) return first;
  return (exchange) => predicates.every((holds) => holds(exchange));
}

const any =
  (predicates: readonly Predicate[]): Predicate =>
  (exchange) =>
    predicates.some((holds) => holds(exchange));

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
