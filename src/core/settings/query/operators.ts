import { isDeepStrictEqual } from 'node:util';
import { operations } from '../../operations/index.ts';
import { nearest } from '../../kernel/index.ts';
import { showValue, shortList } from '../values/show.ts';
import type { Field } from './fields.ts';
import { Pattern, patternMistake } from './patterns.ts';

/** `value`: undefined without the field. @param account the exchange, under which patterns add up their cost */
export type Test = (value: unknown, account: object) => boolean;

/** A mistake in an operand, with its path inside the operand. */
interface OperandMistake {
  readonly path: readonly (string | number)[];
  /** A predicate for the operand, or a whole sentence if `sentence` is set. */
  readonly message: string;
  readonly sentence?: boolean;
  readonly suggestion?: string | undefined;
}

interface Operator {
  mistake(operand: unknown, field: Field): OperandMistake | undefined;
  /** Compiles the operand. For an operand with a mistake the result is never used. */
  test(operand: unknown, field: Field): Test;
}

/** The values of `operation`: operations that call a model. */
const operationIds = (): readonly string[] =>
  [...new Set(operations.flatMap(({ id, task }) => (task ? id : [])))].toSorted();

const MAX_LIST = 1000;
/** A number in JSON notation: not `007` or `1,5`. */
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

const here = (message: string): OperandMistake => ({ path: [], message });
const sentence = (message: string): OperandMistake => ({ path: [], message, sentence: true });

const equal: Operator = {
  mistake: (operand, field) => scalarMistake(operand, field),
  test(operand, field) {
    const comparable = reader(operand, field);
    return (value) => isEqual(comparable(value), operand);
  },
};

const among: Operator = {
  mistake(operand, field) {
    if (!Array.isArray(operand)) return here(`must be a list, not ${showValue(operand, undefined)}`);
    if (operand.length === 0) return here('must not be empty');
    if (operand.length > MAX_LIST) return here(`lists ${operand.length} values; at most ${MAX_LIST} are allowed`);
    for (const [index, item] of operand.entries()) {
      const mistake = scalarMistake(item, field);
      if (mistake) return { ...mistake, path: [index, ...mistake.path] };
    }
    return undefined;
  },
  test(operand, field) {
    const items: readonly unknown[] = Array.isArray(operand) ? operand : [];
    const scalars = new Set(items);
    const others = items.filter((item) => typeof item === 'object' && item !== null);
    const numbers = field.kind === 'text' && items.some((item) => typeof item === 'number');
    return (value) => {
      if (scalars.has(value) || (numbers && scalars.has(numberIn(value)))) return true;
      return others.some((item) => isEqual(item, value));
    };
  },
};

const ordered = (holds: (value: number | string, operand: number | string) => boolean): Operator => ({
  mistake(operand, field) {
    if (typeof operand === 'number' || typeof operand === 'string') return scalarMistake(operand, field);
    return here(`must be a number or text, not ${showValue(operand, undefined)}: other values have no order`);
  },
  test(operand, field) {
    if (typeof operand !== 'number' && typeof operand !== 'string') return () => false;
    const comparable = reader(operand, field);
    return (found) => {
      const value = comparable(found);
      if (typeof value === 'number') return typeof operand === 'number' && holds(value, operand);
      return typeof value === 'string' && typeof operand === 'string' && holds(value, operand);
    };
  },
});

const regex: Operator = {
  mistake(operand) {
    if (typeof operand !== 'string') return here(`must be text, not ${showValue(operand, undefined)}`);
    const message = patternMistake(operand);
    return message === undefined ? undefined : sentence(message);
  },
  test(operand, field) {
    if (typeof operand !== 'string') return () => false;
    const pattern = new Pattern(operand, field);
    return (value, account) => typeof value === 'string' && pattern.isIn(value, account);
  },
};

const exists: Operator = {
  mistake: (operand) =>
    typeof operand === 'boolean' ? undefined : here(`must be true or false, not ${showValue(operand, undefined)}`),
  test: (operand) => (value) => (value !== undefined) === operand,
};

const not = ({ mistake, test }: Operator): Operator => ({
  mistake,
  test(operand, field) {
    const holds = test(operand, field);
    return (value, account) => !holds(value, account);
  },
});

export const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['$eq', equal],
  ['$ne', not(equal)],
  ['$gt', ordered((value, operand) => value > operand)],
  ['$gte', ordered((value, operand) => value >= operand)],
  ['$lt', ordered((value, operand) => value < operand)],
  ['$lte', ordered((value, operand) => value <= operand)],
  ['$in', among],
  ['$nin', not(among)],
  ['$regex', regex],
  ['$exists', exists],
]);

/** Prepares a field's value for comparison: text in number notation becomes a number where the operand is a number. */
const reader = (operand: unknown, { kind }: Field): ((value: unknown) => unknown) =>
  kind === 'text' && typeof operand === 'number' ? numberIn : (value) => value;

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined;

/** Refuses an operand that could never equal the field's text. */
function scalarMistake(operand: unknown, { name, kind }: Field): OperandMistake | undefined {
  if (typeof operand === 'string') return name === 'operation' ? operationMistake(operand) : undefined;
  if (kind === 'json') return undefined;
  if (kind === 'text' && typeof operand === 'number') return undefined;
  if (operand === null) return sentence(`\`${name}\` is text; use \`$exists: false\` to test whether it is missing`);
  const quotes = typeof operand === 'object' ? '' : ': put it in quotes';
  return sentence(`\`${name}\` is text, and ${showValue(operand, undefined)} is not${quotes}`);
}

function operationMistake(id: string): OperandMistake | undefined {
  const ids = operationIds();
  if (ids.includes(id)) return undefined;
  const suggestion = nearest(id.replaceAll('/', '.'), ids);
  const message = `there is no operation ${showValue(id, undefined)}, only ${shortList(ids)}`;
  return { ...sentence(message), suggestion };
}

/** Deep equality of two JSON values: lists in order, objects in any order. */
const isEqual = (one: unknown, other: unknown): boolean => one === other || isDeepStrictEqual(one, other);
