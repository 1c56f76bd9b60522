import { scrub } from '../scrub.ts';
import type { LineParts } from './line-parts.ts';
import type { RecordField } from './record-field.ts';
import { RecurringTexts } from './recurring-texts.ts';

/** Adds `"name":value` of one field; nothing if its value is absent. */
type AddMember<T> = (of: T, into: LineParts) => void;
/** The same as a text; empty if the value is absent. */
type WriteMember<T> = (of: T) => string;

/**
 * Compiles the members of a JSON object in the access line, in the order of the table. Each text is scrubbed on its own,
 * which equals scrubbing the whole line: no name in a table is a credential's, and no pattern of a credential matches
 * beyond the quotes of a text.
 *
 * @param before what precedes the first field; `''` only if that field is never absent
 */
export function membersWriter<T>(fields: readonly RecordField<T>[], before: ',' | ''): AddMember<T> {
  const shown = fields.filter(({ line }) => line !== undefined);
  const adders: AddMember<T>[] = [];
  let run: WriteMember<T>[] | undefined;
  for (const [index, field] of shown.entries()) {
    const name = `${index === 0 ? before : ','}"${field.line}":`;
    if (field.as !== 'text') {
      adders.push(memberOf(field, name));
      run = undefined;
      continue;
    }
    // Adjacent texts make one run, because the next request often has the same texts.
    if (!run) adders.push(added(runWriter((run = []))));
    run.push(textMember(field, name));
  }
  return (of, into) => {
    for (const add of adders) add(of, into);
  };
}

function added<T>(write: WriteMember<T>): AddMember<T> {
  return (of, into) => {
    const text = write(of);
    if (text !== '') into.add(text);
  };
}

/** Joins members. Keeps the joined text while all members stay the same, because each join makes an object. */
function runWriter<T>(run: readonly WriteMember<T>[]): WriteMember<T> {
  const latest: string[] = [];
  let isJoined = false;
  let text = '';
  return (of) => {
    for (let index = 0; index < run.length; index += 1) {
      const member = run[index]!(of);
      if (member === latest[index]) continue;
      latest[index] = member;
      isJoined = false;
    }
    if (isJoined) return text;
    text = '';
    for (const member of latest) text += member;
    isJoined = true;
    return text;
  };
}

function memberOf<T>(field: Exclude<RecordField<T>, { as: 'text' }>, name: string): AddMember<T> {
  switch (field.as) {
    case 'unique':
      return member(name, field.value, uniqueText);
    case 'plain':
      return added(plainMember(field.value, name));
    case 'ms':
      return member(name, field.value, msText);
    case 'time':
      return member(name, field.value, (ms) => `"${new Date(ms).toISOString()}"`);
    case 'texts': {
      const texts = new RecurringTexts(quoted);
      return member(name, field.value, (all) => `[${all.map((text) => texts.of(text)).join(',')}]`);
    }
    case 'json':
      return member(name, field.value, (value) => scrub(JSON.stringify(value)));
    case 'nested':
      return field.addToLine(name);
  }
}

function member<T, V>(name: string, valueOf: (of: T) => V | undefined, write: (value: V) => string): AddMember<T> {
  return (of, into) => {
    const value = valueOf(of);
    if (value === undefined) return;
    into.add(name);
    into.add(write(value));
  };
}

/** Remembers the latest member, because a status and most flags are the same as in the request before. */
function plainMember<T>(valueOf: (of: T) => number | boolean | undefined, name: string): WriteMember<T> {
  let latest: number | boolean | undefined;
  let text = '';
  return (of) => {
    const value = valueOf(of);
    if (value === latest) return text;
    text = value === undefined ? '' : name + plainText(value);
    latest = value;
    return text;
  };
}

/** Remembers the whole member, so that a known text is one concatenation. */
function textMember<T>(
  { value: valueOf, orNull }: Extract<RecordField<T>, { as: 'text' }>,
  name: string,
): WriteMember<T> {
  const members = new RecurringTexts((text) => name + quoted(text));
  const absent = orNull ? `${name}null` : '';
  return (of) => {
    const value = valueOf(of);
    return value === undefined ? absent : members.of(value);
  };
}

const quoted = (text: string): string => scrub(JSON.stringify(text));

/** Needs no escapes, and has no letter that every format of a credential has: see `scrub`. */
const HEX = /^[0-9a-f-]*$/;
const uniqueText = (text: string): string => (HEX.test(text) ? `"${text}"` : quoted(text));

/** As JSON.stringify: NaN and infinities are null. */
const plainText = (value: number | boolean): string =>
  typeof value === 'boolean' || Number.isFinite(value) ? `${value}` : 'null';

/** `''`, `.001`, … `.999`, without zeros at the end. */
const FRACTIONS = Array.from({ length: 1000 }, (_, thousandths) => String(thousandths / 1000).slice(1));

/** Rounds to microseconds. Printing a fraction as two integers takes a third of the time (measured). */
export function msText(ms: number): string {
  const us = Math.round(ms * 1000);
  return us >= 0 && us <= 0x7fffffff ? Math.trunc(us / 1000) + FRACTIONS[us % 1000]! : plainText(us / 1000);
}
