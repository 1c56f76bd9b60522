import { scrub } from '../scrub.ts';
import type { LineParts } from './line-parts.ts';
import type { Notations, RecordField } from './record-field.ts';
import { RecurringTexts } from './recurring-texts.ts';

/** Adds the members of an object to a line: `,"status":200,"stream":false`. */
type AddMembers<T> = (of: T, into: LineParts) => void;

/**
 * Where a value is, and how it is written. A property is read in place: a function for each of 60 fields would double the calls of
 * a line (counted).
 */
interface Member<T> {
  readonly value: keyof T | ((of: T) => unknown);
  readonly textOf: (value: unknown) => string;
}

/** A member whose value is often that of the request before: it keeps its latest value (null: none yet) and the text. */
interface KeptMember<T> extends Member<T> {
  latest: unknown;
  text: string;
}

/** A step of writing an object. The table at `membersWriter` has an example of each. */
type LineStep<T> =
  | { readonly how: 'kept'; readonly members: KeptMember<T>[]; joined: string }
  | (Member<T> & { readonly how: 'once'; readonly name: string })
  | { readonly how: 'nested'; readonly add: AddMembers<T> };

/**
 * Compiles the members of a JSON object in the access line, in the order of the table. An absent value has no member.
 *
 * | Rows of the table                                  | Step   | Object                 | Added to the line            |
 * | -------------------------------------------------- | ------ | ---------------------- | ---------------------------- |
 * | `{ line: 'method', as: 'text', value: 'method' }`, | kept   | `{ method: 'POST',     | `,"method":"POST"            |
 * | `{ line: 'route', as: 'text', value: 'route' }`    |        | route: '/v1/x' }`      | ,"route":"/v1/x"`            |
 * | `{ line: 'status', as: 'plain', value: 'status' }` | kept   | `{ status: 200 }`      | `,"status":200`              |
 * | `{ line: 'took', as: 'ms', value: 'tookMs' }`      | once   | `{ tookMs: 12.34567 }` | `,"took":12.346`             |
 * | `rows({ line: 'tries' }, TRIES, …)`                | nested | two tries              | `,"tries":[{"n":0},{"n":1}]` |
 *
 * `kept` writes the text of the request before if its values are the same; neighbouring texts are one step, because each join of
 * texts makes an object. `once` writes a value that each request has of its own. Each text is scrubbed on its own, which equals
 * scrubbing the whole line: no name in a table is a credential's, and no pattern of a credential matches beyond the quotes of a text.
 *
 * @param before precedes the first member; `''` only if the first value is never absent
 */
export function membersWriter<T>(fields: readonly RecordField<T>[], before: ',' | ''): AddMembers<T> {
  const steps = stepsOf(fields, before);
  return (of, into) => {
    for (const step of steps) {
      if (step.how === 'nested') step.add(of, into);
      else if (step.how === 'once') {
        const { value: valueOf } = step;
        const value = typeof valueOf === 'function' ? valueOf(of) : of[valueOf];
        if (value !== undefined) into.add(step.name, step.textOf(value));
      } else {
        let isSame = true;
        for (const member of step.members) {
          const { value: valueOf } = member;
          const value = typeof valueOf === 'function' ? valueOf(of) : of[valueOf];
          if (value === member.latest) continue;
          isSame = false;
          member.latest = value;
          member.text = member.textOf(value);
        }
        if (!isSame) step.joined = step.members.map(({ text }) => text).join('');
        if (step.joined !== '') into.add(step.joined);
      }
    }
  };
}

function stepsOf<T>(fields: readonly RecordField<T>[], before: ',' | ''): LineStep<T>[] {
  const steps: LineStep<T>[] = [];
  /** The members of the step before, if they are texts. */
  let texts: KeptMember<T>[] | undefined;
  for (const field of fields) {
    if (field.line === undefined) continue;
    const name = `${steps.length === 0 ? before : ','}"${field.line}":`;
    if (field.as === 'text' && texts) {
      texts.push(keptMember(field, name));
      continue;
    }
    const step = stepOf(field, name);
    steps.push(step);
    texts = field.as === 'text' && step.how === 'kept' ? step.members : undefined;
  }
  return steps;
}

function stepOf<T>(field: RecordField<T>, name: string): LineStep<T> {
  if (field.as === 'nested') return { how: 'nested', add: field.lineAdder(name) };
  if (field.as === 'text' || field.as === 'plain')
    return { how: 'kept', members: [keptMember(field, name)], joined: '' };
  // The field's own type admits values of its notation only.
  return { how: 'once', name, value: field.value, textOf: TEXT_OF[field.as] as (value: unknown) => string };
}

function keptMember<T>(field: Extract<RecordField<T>, { as: 'text' | 'plain' }>, name: string): KeptMember<T> {
  const absent = field.orNull ? `${name}null` : '';
  const texts = new RecurringTexts((text) => name + quoted(text));
  const textOf = (value: unknown): string => {
    if (value === undefined) return absent;
    return typeof value === 'string' ? texts.of(value) : name + plainText(value);
  };
  return { value: field.value, textOf, latest: null, text: '' };
}

const quoted = (text: string): string => scrub(JSON.stringify(text));

/** Needs no escapes, and has no letter that every format of a credential has: see `scrub`. */
const HEX = /^[0-9a-f-]*$/;

/** As JSON.stringify: NaN and infinities are null. */
const plainText = (value: unknown): string =>
  typeof value === 'boolean' || Number.isFinite(value) ? String(value) : 'null';

/** `''`, `.001`, … `.999`, without zeros at the end. */
const FRACTIONS = Array.from({ length: 1000 }, (_, thousandths) => String(thousandths / 1000).slice(1));

/** Rounds to microseconds. Printing a fraction as two integers takes a third of the time (measured). */
export function msText(ms: number): string {
  const us = Math.round(ms * 1000);
  return us >= 0 && us <= 0x7fffffff ? Math.trunc(us / 1000) + FRACTIONS[us % 1000]! : plainText(us / 1000);
}

const recurring = new RecurringTexts(quoted);

/** How values are written that each request has of its own. */
const TEXT_OF: { readonly [N in Exclude<keyof Notations, 'text' | 'plain'>]: (value: Notations[N]) => string } = {
  unique: (text) => (HEX.test(text) ? `"${text}"` : quoted(text)),
  ms: msText,
  time: (ms) => `"${new Date(ms).toISOString()}"`,
  texts: (all) => `[${all.map((text) => recurring.of(text)).join(',')}]`,
  json: (value) => scrub(JSON.stringify(value)),
};
