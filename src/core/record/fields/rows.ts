import type { RecordField, ShownAs } from './record-field.ts';
import { membersWriter } from './line-text.ts';
import { valuesReader } from './record-values.ts';

/**
 * A field that is a list of objects with fields of their own. The first field of an object is never absent.
 *
 * | Row                                            | Object                            | Added to the access line                   |
 * | ---------------------------------------------- | --------------------------------- | ------------------------------------------ |
 * | `rows({ line: 'tries' }, TRIES, (of) => of.t)` | `{ t: [{ n: 429 }, { n: 200 }] }` | `,"tries":[{"status":429},{"status":200}]` |
 * | the same                                       | `{ t: [] }`                       | nothing                                    |
 */
export function rows<T, I>(
  names: ShownAs,
  fields: readonly RecordField<I>[],
  itemsOf: (of: T) => readonly I[],
): RecordField<T> {
  const addMembers = membersWriter(fields, '');
  const valuesOf = valuesReader(fields);
  return {
    as: 'nested',
    ...names,
    lineAdder: (name) => {
      const first = `${name}[{`;
      return (of, into) => {
        const items = itemsOf(of);
        if (items.length === 0) return;
        let before = first;
        for (const item of items) {
          into.add(before);
          addMembers(item, into);
          before = '},{';
        }
        into.add('}]');
      };
    },
    valueOf: (of) => itemsOf(of).map(valuesOf),
  };
}

/** A field that is one object with fields of its own, or absent: `,"prompt":{"id":"greeting"}`. Its first one is never absent. */
export function group<T, I>(
  names: ShownAs,
  fields: readonly RecordField<I>[],
  itemOf: (of: T) => I | undefined,
): RecordField<T> {
  const addMembers = membersWriter(fields, '');
  const valuesOf = valuesReader(fields, null);
  return {
    as: 'nested',
    ...names,
    lineAdder: (name) => {
      const before = `${name}{`;
      return (of, into) => {
        const item = itemOf(of);
        if (item === undefined) return;
        into.add(before);
        addMembers(item, into);
        into.add('}');
      };
    },
    valueOf(of) {
      const item = itemOf(of);
      return item === undefined ? undefined : valuesOf(item);
    },
  };
}
