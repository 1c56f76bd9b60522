import type { Query } from '../../../../schemas/types.generated.ts';
import type { ComparedValue, ConditionInput } from '../../kernel/index.ts';
import type { Field } from './fields.ts';
import { readQuery, unchecked, type QueryShape } from './read.ts';

const MAX_TESTS = 16;
/** Fields of bodies that are texts of people. */
const TEXTS =
  /^params\.(?:messages|input|contents|prompt|system|instructions|systemInstruction|system_instruction|texts?|query|documents)(?:\.|$)/;

/** Whether the field of a condition, such as `params.messages.0.content`, is a text of people. */
export const isTextField = (name: string): boolean => TEXTS.test(name);

const FIELDS: QueryShape<readonly Field[]> = {
  level: (parts) => parts.flat(),
  list: (_, queries) => queries.flat(),
  not: (fields) => fields,
  compare: (field) => [field],
  never: () => [],
};

/** Reads the values that these queries compare, but no text of a message. The record masks and cuts them. */
export function comparedBy(queries: readonly Query[]): (request: ConditionInput) => readonly ComparedValue[] {
  const all = queries.flatMap((query) => readQuery(query, unchecked(), FIELDS));
  const fields = [...new Map(all.map((field) => [field.name, field])).values()]
    .filter(({ name }) => !isTextField(name))
    .slice(0, MAX_TESTS);
  return (request) => fields.map(({ name, read }) => ({ field: name, found: shown(read(request)) }));
}

function shown(value: unknown): ComparedValue['found'] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  // An object or a list may have texts inside.
  return value === undefined || value === null ? null : `[${Array.isArray(value) ? 'list' : 'object'}]`;
}
