import type { AnyField } from '../../src/core/record/fields/record-field.ts';
import type { Code } from './code.ts';
import type { RowTexts } from './row-text.ts';

export type Place = 'line' | 'record' | 'span';

/** The parts that the writers of all places share: variables for values, and the parts of a record that several rows name. */
export class Fields {
  readonly recordFile: string;
  readonly #code: Code;
  readonly #texts: RowTexts;
  /** Variables of parts, by the function that finds them, in the function or block that is being written. */
  #parts = new Map<AnyField['value'], string>();

  constructor(code: Code, texts: RowTexts, recordFile: string) {
    this.#code = code;
    this.#texts = texts;
    this.recordFile = recordFile;
  }

  isShown(field: AnyField, place: Place): boolean {
    if (field.as === 'part') return (field.fields ?? []).some((inner) => this.isShown(inner, place));
    return field[place] !== undefined;
  }

  /** The value of a row as an expression that can be read twice: a property, or a variable that is declared. */
  value(wish: string, value: AnyField['value'], of: string): string {
    return typeof value === 'string' ? `${of}.${value}` : this.variable(wish, value, of);
  }

  /** Declares a variable with the value of a row. */
  variable(wish: string, value: AnyField['value'], of: string): string {
    const { before, text } = this.#texts.expression(value, of);
    const name = this.#code.named(wish, before.join(' ').match(/\w+/g) ?? []);
    if (before.length === 0) this.#code.add(`const ${name} = ${text};`);
    else this.#code.add(`let ${name};`, '{', ...before, `${name} = ${text};`, '}');
    return name;
  }

  /** Variables that are declared within do not exist after it. */
  inScope(write: () => void): void {
    const parts = this.#parts;
    this.#parts = new Map(parts);
    write();
    this.#parts = parts;
  }

  /** Writes what a record has of a part of it, which is looked up once. */
  inPart({ value }: AnyField, of: string, write: (part: string) => void): void {
    let part = this.#parts.get(value);
    if (part === undefined) {
      const { name } = value as { readonly name: string };
      part = this.variable(name.replace(/Of$/, ''), value, of);
      this.#parts.set(value, part);
    }
    this.#code.add(`if (${part} !== undefined) {`);
    this.inScope(() => write(part));
    this.#code.add('}');
  }
}
