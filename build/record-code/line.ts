import type { AnyField } from '../../src/core/record/fields/record-field.ts';
import type { Code } from './code.ts';
import type { Fields } from './fields.ts';

/** Writes the function that adds the members of a record to its access line. */
export function writeLine(code: Code, fields: Fields, table: readonly AnyField[]): void {
  const writer = new LineWriter(code, fields);
  writer.write(table);
}

class LineWriter {
  readonly #code: Code;
  readonly #fields: Fields;
  readonly #runs: string[] = [];
  /** Of the next member: nothing for the first of an object. */
  #comma = ',';

  constructor(code: Code, fields: Fields) {
    this.#code = code;
    this.#fields = fields;
  }

  write(table: readonly AnyField[]): void {
    const body = this.#code.collect(() => {
      this.#code.begin('start', 'record', 'line');
      this.#members(table, 'record');
    });
    this.#code
      .add('type Text = string | undefined;', '')
      .add(...this.#runs)
      .add('')
      .add('/** Adds the members of the access line, each with a comma before it. */')
      .add(
        `export function lineOf(start: string, record: ${this.#code.type('BoundedRecord', this.#fields.recordFile)}): string {`,
      )
      .add('let line = start;', ...body, 'return line;', '}');
  }

  #members(table: readonly AnyField[], of: string): void {
    const shown = table.filter((field) => this.#fields.isShown(field, 'line'));
    for (let at = 0; at < shown.length; at += 1) {
      const field = shown[at]!;
      if (field.as !== 'text') {
        this.#member(field, of);
        continue;
      }
      const end = shown.findIndex(({ as }, index) => index > at && as !== 'text');
      const run = shown.slice(at, end < 0 ? undefined : end);
      this.#run(run, of);
      at += run.length - 1;
    }
  }

  /** `,"status":` */
  #name({ line }: AnyField): string {
    const name = `${this.#comma}"${line}":`;
    this.#comma = ',';
    return name;
  }

  /** Neighbouring texts, which are often those of the request before: they are compared, and joined anew if one differs. */
  #run(run: readonly AnyField[], of: string): void {
    const id = `texts${this.#runs.length / 2 + 1}`;
    const quoted = `quoted${this.#runs.length / 2 + 1}`;
    const parts = run.map((field) => {
      const name = this.#name(field);
      const value = this.#fields.value(field.line!, field.value, of);
      const key = field.line!.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      return { key, name, value, absent: field.orNull ? `${name}null` : '' };
    });
    const initial = parts.map(({ absent }) => absent).join('');
    const keys = parts.map(({ key }) => `${key}: undefined as Text`).join(', ');
    this.#runs.push(
      `const ${id} = { ${keys}, joined: '${initial}' };`,
      `const ${quoted} = new RecurringTexts(quoted);`,
    );
    const members = parts.map(
      ({ name, value, absent }) => `(${value} === undefined ? '${absent}' : '${name}' + ${quoted}.of(${value}))`,
    );
    this.#code.add(
      `if (${parts.map(({ key, value }) => `${value} !== ${id}.${key}`).join(' || ')}) {`,
      `${id}.joined =`,
      ...members.map((member, index) => `  ${member}${index < members.length - 1 ? ' +' : ';'}`),
      ...parts.map(({ key, value }) => `${id}.${key} = ${value};`),
      '}',
      `line += ${id}.joined;`,
    );
  }

  #member(field: AnyField, of: string): void {
    const code = this.#code;
    if (field.as === 'rows') return this.#rows(field, of);
    if (field.as === 'part') return this.#fields.inPart(field, of, (item) => this.#members(field.fields ?? [], item));
    const name = this.#name(field);
    const value = this.#fields.value(field.line!, field.value, of);
    if (field.as === 'group') {
      code.add(`if (${value} !== undefined) {`, `line += '${name}{';`);
      this.#comma = '';
      this.#fields.inScope(() => this.#members(field.fields ?? [], value));
      code.add("line += '}';", '}');
      return;
    }
    code.add(`if (${value} !== undefined) line += '${name}' + ${TEXT_OF[field.as as keyof typeof TEXT_OF](value)};`);
    if (field.orNull) code.add(`else line += '${name}null';`);
  }

  #rows(field: AnyField, of: string): void {
    const code = this.#code;
    const name = this.#name(field);
    const items = this.#fields.value(field.line!, field.value, of);
    const before = code.named('before');
    const item = code.named('item');
    code.add(`if (${items}.length > 0) {`, `let ${before} = '${name}[{';`, `for (const ${item} of ${items}) {`);
    code.add(`line += ${before};`);
    this.#comma = '';
    this.#fields.inScope(() => this.#members(field.fields ?? [], item));
    code.add(`${before} = '},{';`, '}', "line += '}]';", '}');
  }
}

/** How values are written that each request has of its own. */
const TEXT_OF = {
  unique: (value: string): string => `uniqueText(${value})`,
  // As JSON.stringify: NaN and infinities are null.
  plain: (value: string): string => `(typeof ${value} === 'number' && !Number.isFinite(${value}) ? 'null' : ${value})`,
  ms: (value: string): string => `msText(${value})`,
  time: (value: string): string => `timeText(${value})`,
  texts: (value: string): string => `textsText(${value})`,
  json: (value: string): string => `jsonText(${value})`,
};
