import type { AnyField } from '../../src/core/record/fields/record-field.ts';
import type { Code } from './code.ts';
import type { Fields } from './fields.ts';

export interface SpanTable {
  /** The name of its function. */
  readonly name: string;
  readonly fields: readonly AnyField[];
  /** The type of what the attributes are of, and the file that has it. */
  readonly type: string;
  readonly file: string;
}

/** Writes the functions that make the attributes of spans, as an object that has them all. */
export function writeSpans(code: Code, fields: Fields, tables: readonly SpanTable[], form: Form): void {
  const functions = tables.map((table) => functionOf(code, fields, table, form));
  code.add(...functions.flatMap(({ constants }) => constants), '');
  code.add(`export const ${form.exported} = {`, ...functions.flatMap(({ lines }) => lines), '};');
}

/** How attributes are written: as objects for OpenTelemetry's SDK, or as bytes. */
interface Form {
  readonly exported: string;
  /** The type of all attributes, none of them, and the statement that adds one. */
  readonly type: string;
  readonly none: string;
  readonly add: (field: AnyField, value: string, constant: (init: string) => string) => string;
}

export const OBJECTS: Form = {
  exported: 'spanAttributes',
  type: 'Attributes',
  none: '{}',
  add: ({ span }, value) => `all['${span}'] = ${value};`,
};

export const BYTES: Form = {
  exported: 'spanAttributeBytes',
  type: 'Bytes',
  none: "''",
  add({ span, as }, value, constant) {
    if (as === 'text') return `all += ${constant(`textAttribute('${span}')`)}.of(${value});`;
    if (as === 'unique') return `all += attribute('${span}', ${value});`;
    if (as === 'texts') return `all += attribute('${span}', [...${value}]);`;
    return `all += ${constant(`plainAttribute('${span}')`)}(${value});`;
  },
};

function functionOf(code: Code, fields: Fields, table: SpanTable, { type, none, add }: Form) {
  const constants: string[] = [];
  const constant = (init: string): string => {
    const name = `${table.name}${constants.length + 1}`;
    constants.push(`const ${name} = ${init};`);
    return name;
  };
  const members = (rows: readonly AnyField[], of: string): void => {
    for (const field of rows) {
      if (!fields.isShown(field, 'span')) continue;
      if (field.as === 'part') fields.inPart(field, of, (part) => members(field.fields ?? [], part));
      else {
        const value = fields.value(field.span!.replace(/^gen_ai\./, ''), field.value, of);
        code.add(`if (${value} !== undefined) ${add(field, value, constant)}`);
      }
    }
  };
  const body = code.collect(() => {
    code.begin('of', 'all');
    fields.inScope(() => members(table.fields, 'of'));
  });
  const head = `${table.name}(of: ${code.type(table.type, table.file)}): ${type} {`;
  return {
    constants,
    lines: [head, `${type === 'Bytes' ? 'let' : 'const'} all: ${type} = ${none};`, ...body, 'return all;', '},'],
  };
}
