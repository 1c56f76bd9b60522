import type { AnyField } from '../../src/core/record/fields/record-field.ts';
import type { Code } from './code.ts';
import type { Fields } from './fields.ts';

/** Writes the function that makes the object of a stored record. */
export function writeValues(code: Code, fields: Fields, table: readonly AnyField[]): void {
  code.begin('record', 'values');
  const writer = new ValuesWriter(code, fields);
  code
    .add('/** The object of a stored record; absent fields are undefined. Its texts may have credentials. */')
    .add(`export function valuesOf(record: ${code.type('BoundedRecord', fields.recordFile)}): StoredObject {`)
    .add(`const values: StoredObject = ${writer.absent(table)};`);
  writer.members(table, { of: 'record', into: 'values', notFinite: 'undefined' });
  code.add('return values;', '}', '', 'type StoredObject = Record<string, unknown>;');
}

interface Place {
  readonly of: string;
  /** The variable of the object. */
  readonly into: string;
  /** In place of NaN and infinities, which JSON does not have; undefined leaves the field out. */
  readonly notFinite: 'undefined' | 'null';
}

class ValuesWriter {
  readonly #code: Code;
  readonly #fields: Fields;

  constructor(code: Code, fields: Fields) {
    this.#code = code;
    this.#fields = fields;
  }

  /** Room for each member: an object that grows member by member is copied again and again, 5 KB for a record (measured). */
  absent(table: readonly AnyField[]): string {
    return `{ ${[...new Set(this.#names(table))].map((name) => `'${name}': undefined`).join(', ')} }`;
  }

  #names(table: readonly AnyField[]): readonly string[] {
    const shown = table.filter((field) => this.#fields.isShown(field, 'record'));
    return shown.flatMap((field) => (field.as === 'part' ? this.#names(field.fields ?? []) : [field.record!]));
  }

  members(table: readonly AnyField[], place: Place): void {
    for (const field of table) if (this.#fields.isShown(field, 'record')) this.#member(field, place);
  }

  #member(field: AnyField, place: Place): void {
    const { of, into, notFinite } = place;
    const inner = field.fields ?? [];
    if (field.as === 'part')
      return this.#fields.inPart(field, of, (part) => this.members(inner, { ...place, of: part }));
    const code = this.#code;
    const name = field.record!;
    const value = this.#fields.value(name, field.value, of);
    const set = (text: string): string => `${into}['${name}'] = ${text};`;
    switch (field.as) {
      case 'rows': {
        const [item, all, one] = [code.named('item'), code.named('all'), code.named('one')];
        code.add(
          `const ${all}: StoredObject[] = [];`,
          `for (const ${item} of ${value}) {`,
          `const ${one}: StoredObject = ${this.absent(inner)};`,
        );
        this.#fields.inScope(() => this.members(inner, { of: item, into: one, notFinite: 'undefined' }));
        return void code.add(`${all}.push(${one});`, '}', set(all));
      }
      case 'group': {
        const one = code.named('one');
        code.add(`if (${value} !== undefined) {`, `const ${one}: StoredObject = ${this.absent(inner)};`);
        this.#fields.inScope(() => this.members(inner, { of: value, into: one, notFinite: 'null' }));
        return void code.add(set(one), '}');
      }
      case 'plain':
      case 'ms':
      case 'time': {
        const shown = code.named('shown');
        code.add(`const ${shown} = ${SHOWN[field.as]}(${value}, ${notFinite});`);
        return void code.add(`if (${shown} !== undefined) ${set(shown)}`);
      }
      default:
        code.add(`if (${value} !== undefined) ${set(value)}`);
    }
  }
}

const SHOWN = { plain: 'finite', ms: 'roundedMs', time: 'isoTime' };
