import { scrub } from '../scrub.ts';
import type { RecordField } from './record-field.ts';
import { RecurringTexts } from './recurring-texts.ts';

/** Writes `"name":value` of one field; nothing if its value is absent. */
type WriteMember<T> = (of: T) => string;

/**
 * Compiles the members of a JSON object in the access line, in the order of the table. Each text is scrubbed on its own,
 * which equals scrubbing the whole line: no name in a table is a credential's, and no pattern of a credential matches
 * beyond the quotes of a text.
 *
 * @param before what precedes the first field; `''` only if that field is never absent
 */
export function membersWriter<T>(fields: readonly RecordField<T>[], before: ',' | ''): WriteMember<T> {
  const shown = fields.filter(({ line }) => line !== undefined);
  const runs: WriteMember<T>[][] = [];
  for (const [index, field] of shown.entries()) {
    const write = memberOf(field, `${index === 0 ? before : ','}"${field.line}":`);
    // Adjacent texts make one run, because the next request often has the same texts.
    if (field.as === 'text' && shown[index - 1]?.as === 'text') runs.at(-1)!.push(write);
    else runs.push([write]);
  }
  const writers = runs.map((run) => (run.length === 1 ? run[0]! : runWriter(run)));
  return (of) => {
    let text = '';
    for (const write of writers) text += write(of);
    return text;
  };
}

/** Joins several members. Keeps the joined text while all members stay the same, because each join makes an object. */
function runWriter<T>(run: readonly WriteMember<T>[]): WriteMember<T> {
  const latest = run.map(() => '');
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

function memberOf<T>(field: RecordField<T>, name: string): WriteMember<T> {
  switch (field.as) {
    case 'text':
      return textMember(field, name);
    case 'unique':
      return member(name, field.value, uniqueText);
    case 'plain':
      return plainMember(field.value, name);
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
      return member(name, field.lineText, (text) => text);
  }
}

function member<T, V>(name: string, valueOf: (of: T) => V | undefined, write: (value: V) => string): WriteMember<T> {
  return (of) => {
    const value = valueOf(of);
    return value === undefined ? '' : name + write(value);
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
