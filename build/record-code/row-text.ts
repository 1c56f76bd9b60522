import { readFileSync } from 'node:fs';

/** A function of a row: `({ place }) => place?.provider`. */
type RowFunction = (...of: never[]) => unknown;

/** The functions of rows as their files have them, with types, which Node replaces by spaces before it runs a file. */
export class RowTexts {
  readonly #sources: readonly string[];

  constructor(files: readonly string[]) {
    this.#sources = files.map((file) => readFileSync(file, 'utf8'));
  }

  #textOf(fn: RowFunction): string {
    const plain = fn.toString();
    if (this.#sources.some((source) => source.includes(plain))) return plain;
    for (const source of this.#sources)
      for (let at = source.indexOf('('); at >= 0; at = source.indexOf('(', at + 1))
        if (isWithoutTypes(plain, source, at)) return source.slice(at, at + plain.length);
    throw new Error(`no file of tables has the function ${plain}`);
  }

  /** The expression of a value: a property or a function of the variable `of`. */
  expression(value: string | RowFunction, of: string): Expression {
    if (typeof value === 'string') return { before: [], text: `${of}.${value}` };
    if (value.toString().startsWith('function')) return { before: [], text: `${value.name}(${of})` };
    const text = this.#textOf(value);
    const { params, body } = partsOf(text);
    if (body.startsWith('{')) throw new Error(`a row has a block where it must have an expression: ${text}`);
    return inPlace(params, body.replaceAll(/\s*\n\s*/g, ' '), of);
  }

  /** The statements of a function with a block, with `args` in place of its parameters. */
  statements(fn: RowFunction, args: readonly string[]): readonly string[] {
    const { params, body } = partsOf(this.#textOf(fn));
    const inner = /^\{\n?(.*?)\s*\}$/s.exec(body)?.[1];
    if (inner === undefined) throw new Error(`a count has no block: ${body}`);
    if (/\breturn\b/.test(inner)) throw new Error(`a count that is written in place cannot return: ${body}`);
    const lines = inner.split('\n');
    const indent = Math.min(...lines.filter((line) => line !== '').map((line) => /^ */.exec(line)![0].length));
    let depth = 0;
    // Braces indent the generated file: what is left here is that of lines that go on.
    const own = lines.map((line) => {
      if (/^ *[}\])]/.test(line)) depth -= 1;
      const shown = line.slice(indent + 2 * depth);
      if (/[{[(]$/.test(line)) depth += 1;
      return shown;
    });
    return [...bound(params, args), ...own];
  }
}

function isWithoutTypes(plain: string, source: string, from: number): boolean {
  for (let at = 0; at < plain.length; at += 1) if (plain[at] !== ' ' && plain[at] !== source[from + at]) return false;
  return true;
}

interface Expression {
  /** Declarations that must precede the expression, in a block of their own. */
  readonly before: readonly string[];
  readonly text: string;
}

interface FunctionParts {
  readonly params: readonly string[];
  readonly body: string;
}

function partsOf(text: string): FunctionParts {
  const named = /^(\w+) =>\s*/.exec(text);
  if (named) return { params: [named[1]!], body: text.slice(named[0].length).trim() };
  const end = closing(text, text.indexOf('('));
  const arrow = text.indexOf('=>', end);
  return { params: split(text.slice(1, end)), body: text.slice(arrow + 2).trim() };
}

/** The place of the bracket that closes the one at `from`. */
function closing(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if ('([{'.includes(text[at]!)) depth += 1;
    if (')]}'.includes(text[at]!)) depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error(`a bracket stays open: ${text}`);
}

/** Parameters without their types. */
function split(list: string): string[] {
  const params: string[] = [];
  let from = 0;
  for (let at = 0; at <= list.length; at += 1) {
    if (list[at] === '{') at = closing(list, at);
    if (at < list.length && list[at] !== ',') continue;
    const param = list.slice(from, at).trim();
    const pattern = param.startsWith('{') ? param.slice(0, closing(param, 0) + 1) : param.split(':')[0]!;
    if (param !== '') params.push(pattern);
    from = at + 1;
  }
  return params;
}

const bound = (params: readonly string[], args: readonly string[]): string[] =>
  params.flatMap((param, index) =>
    param === args[index] || param === '_' ? [] : [`const ${param} = ${args[index]};`],
  );

/** The destructured parameters of functions within an expression. */
const INNER_PARAMS = /\(\{([^{}]*)\}\) =>/g;

/** `({ place }) => place?.provider` of `attempt` is `attempt.place?.provider`. An expression with an object needs declarations. */
function inPlace([param = '']: readonly string[], body: string, arg: string): Expression {
  if (param === '') return { before: [], text: body };
  const names = /^\{ ?([\w, ]+?) ?\}$/.exec(param)?.[1]?.split(', ') ?? [param];
  const inner = [...body.matchAll(INNER_PARAMS)]
    .flatMap(([, list = '']) => list.split(/[:,]/))
    .map((name) => name.trim());
  const isObject = /(?<!\$)\{/.test(body.replaceAll(INNER_PARAMS, ''));
  const isSimple = /^\w+$/.test(names[0]!) && !isObject && !names.some((name) => inner.includes(name));
  if (!isSimple) return { before: bound([param], [arg]), text: body };
  const text = body.replaceAll(/(?<![\w$'.]|\?\.)[A-Za-z_]\w*(?!['\w])/g, (name) => {
    if (!names.includes(name)) return name;
    return param.startsWith('{') ? `${arg}.${name}` : arg;
  });
  const isWrapped = text.startsWith('(') && closing(text, 0) === text.length - 1;
  return { before: [], text: isWrapped ? text.slice(1, -1) : text };
}
