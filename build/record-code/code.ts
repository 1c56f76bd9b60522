import { dirname, relative } from 'node:path';

/** A module's values by name, to find what an expression refers to. */
export interface Exporting {
  readonly file: string;
  readonly names: readonly string[];
}

/** A generated file, line by line. Braces make its indents. */
export class Code {
  readonly file: string;
  #lines: string[] = [];
  readonly #types = new Map<string, Set<string>>();
  readonly #banner: string;
  #names = new Set<string>();

  constructor(file: string, banner: string) {
    this.file = file;
    this.#banner = banner;
  }

  add(...lines: readonly string[]): this {
    this.#lines.push(...lines);
    return this;
  }

  /** The lines that `write` adds, which the file does not have yet. */
  collect(write: () => void): readonly string[] {
    const before = this.#lines;
    this.#lines = [];
    write();
    const lines = this.#lines;
    this.#lines = before;
    return lines;
  }

  /** A name that no other variable of the function has, nor any of `others`. */
  named(wish: string, others: readonly string[] = []): string {
    const camel = wish.replaceAll(/[^A-Za-z0-9]+(.)/g, (_, letter: string) => letter.toUpperCase());
    let name = camel;
    for (let again = 2; this.#names.has(name) || others.includes(name); again += 1) name = `${camel}${again}`;
    this.#names.add(name);
    return name;
  }

  /** Names of variables begin anew, without those that parameters have. */
  begin(...taken: readonly string[]): void {
    this.#names = new Set([...taken, ...RESERVED]);
  }

  type(name: string, file: string): string {
    if (/^[a-z]+$/.test(name)) return name;
    this.#types.set(file, (this.#types.get(file) ?? new Set()).add(name));
    return name;
  }

  /** The whole file, with imports of the types and of each value that the code names. */
  text(modules: readonly Exporting[]): string {
    const code = this.#lines.filter((line) => !/^\s*(?:\/\/|\/\*\*)/.test(line)).join('\n');
    const words = new Set(code.match(/(?<![\w$'"]|(?<!\.\.)\.)[A-Za-z_]\w*/g) ?? []);
    const imports = new Map<string, string[]>();
    const seen = new Set<string>();
    for (const { file, names } of modules) {
      const used = names.filter((name) => words.has(name) && !seen.has(name));
      for (const name of used) seen.add(name);
      if (used.length > 0) imports.set(file, used);
    }
    for (const [file, names] of this.#types)
      imports.set(file, [...(imports.get(file) ?? []), ...[...names].map((name) => `type ${name}`)]);
    const lines = [...imports].map(([file, names]) => {
      const path = file.startsWith('@') ? file : relativePath(this.file, file);
      const list = names.every((name) => name.startsWith('type '))
        ? `import type { ${names.map((name) => name.slice(5)).join(', ')} }`
        : `import { ${names.join(', ')} }`;
      return `${list} from '${path}';`;
    });
    return `${[this.#banner, ...lines.toSorted(), '', ...indented(this.#lines)].join('\n')}\n`;
  }
}

const RESERVED = ['default', 'in'];

/** Braces and other brackets at the ends of lines make the indents. */
function indented(lines: readonly string[]): string[] {
  let depth = 0;
  return lines.map((line) => {
    const text = line.trimStart();
    if (/^[}\])]/.test(text)) depth -= 1;
    const shown = text === '' ? '' : '  '.repeat(depth) + line;
    if (/[{[(]$/.test(text)) depth += 1;
    return shown;
  });
}

function relativePath(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}
