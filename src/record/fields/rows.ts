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
    as: 'rows',
    ...names,
    lineText(of) {
      const items = itemsOf(of);
      if (items.length === 0) return undefined;
      let text = '';
      for (const item of items) text += `${text === '' ? '' : ','}{${members(item)}}`;
      return `[${text}]`;
    },
    stored: (of) => itemsOf(of).map(store),
    named: (stored) => stored.map(name),
  };
}
