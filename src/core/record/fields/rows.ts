import type { RecordField, ShownAs } from './record-field.ts';
import { membersWriter } from './line-text.ts';
import { valuesNamer, valuesStorer } from './stored-values.ts';

/**
 * A field that is a list of objects with fields of their own. The first field of an object is never absent. The access
 * line does not have an empty list.
 */
export function rows<T, I>(
  names: ShownAs,
  fields: readonly RecordField<I>[],
  itemsOf: (of: T) => readonly I[],
): RecordField<T> {
  const members = membersWriter(fields, '');
  const store = valuesStorer(fields);
  const name = valuesNamer(fields);
  return {
    as: 'nested',
    ...names,
    addToLine(name) {
      const open = `${name}[{`;
      return (of, into) => {
        const items = itemsOf(of);
        if (items.length === 0) return;
        for (let at = 0; at < items.length; at += 1) {
          into.add(at === 0 ? open : '},{');
          members(items[at]!, into);
        }
        into.add('}]');
      };
    },
    store(of, into, at) {
      const items = itemsOf(of);
      into[at] = items.length;
      let next = at + 1;
      for (const item of items) next = store(item, into, next);
      return next;
    },
    read: (from) => Array.from({ length: Number(from.next()) }, () => name(from)),
  };
}

/** A field that is one object with fields of its own, or absent. Its first field is never absent. */
export function group<T, I>(
  names: ShownAs,
  fields: readonly RecordField<I>[],
  itemOf: (of: T) => I | undefined,
): RecordField<T> {
  const members = membersWriter(fields, '');
  const store = valuesStorer(fields);
  const name = valuesNamer(fields, null);
  return {
    as: 'nested',
    ...names,
    addToLine(name) {
      const open = `${name}{`;
      return (of, into) => {
        const item = itemOf(of);
        if (item === undefined) return;
        into.add(open);
        members(item, into);
        into.add('}');
      };
    },
    store(of, into, at) {
      const item = itemOf(of);
      into[at] = item !== undefined;
      return item === undefined ? at + 1 : store(item, into, at + 1);
    },
    read: (from) => (from.next() === true ? name(from) : undefined),
  };
}
