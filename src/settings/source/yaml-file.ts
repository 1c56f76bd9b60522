import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
} from 'yaml';
import type { Diagnostic } from '../problems/diagnostic.ts';
import type { JsonPath } from '../read/pointer.ts';
import { syntaxMessage } from './syntax-messages.ts';

/** Further syntax errors in one file are consequences of the first ones. */
const MAX_SYNTAX_ERRORS = 10;

export interface Position {
  readonly line: number;
  readonly column: number;
}

const START: Position = { line: 1, column: 1 };

/** A settings file with its syntax tree, which gives the position of every node. */
export class YamlFile {
  /** The path in diagnostics. */
  readonly name: string;
  readonly text: string;
  readonly document: Document;
  readonly syntaxErrors: readonly Diagnostic[];
  readonly #lines: LineCounter;

  private constructor(name: string, text: string, document: Document, lines: LineCounter) {
    this.name = name;
    this.text = text;
    this.document = document;
    this.#lines = lines;
    this.syntaxErrors = this.#collectErrors();
  }

  static parse(name: string, text: string): YamlFile {
    const lines = new LineCounter();
    // Merge keys are a feature of YAML 1.1 that editors and schemas interpret differently; 1.2 keeps `no` and `12:30` as text.
    const document = parseDocument(text, {
      lineCounter: lines,
      keepSourceTokens: true,
      uniqueKeys: true,
      version: '1.2',
      merge: false,
      prettyErrors: false,
      // The parser would print warnings to the process; here they become diagnostics with a position.
      logLevel: 'error',
    });
    return new YamlFile(name, text, document, lines);
  }

  positionAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  /** The position of the value at `path`, or of its key. A missing value has the position of the nearest node around it. */
  locate(path: JsonPath, on: 'key' | 'value' = 'value'): Position {
    let node = this.resolve(this.document.contents);
    let offset = node?.range?.[0];
    for (const [depth, segment] of path.entries()) {
      const step = this.#step(node, segment);
      if (!step) break;
      const key = on === 'key' && depth === path.length - 1 ? startOf(step.key) : undefined;
      offset = key ?? startOf(step.value) ?? startOf(step.key) ?? offset;
      node = this.resolve(step.value);
    }
    return offset === undefined ? START : this.positionAt(offset);
  }

  /** The node itself, or the node that an alias refers to. */
  resolve(node: unknown): Node | undefined {
    if (isAlias(node)) return node.resolve(this.document);
    return isMap(node) || isSeq(node) || isScalar(node) ? node : undefined;
  }

  #step(node: Node | undefined, segment: string | number): { key?: unknown; value: unknown } | undefined {
    if (isSeq(node))
      return typeof segment === 'number' && segment < node.items.length ? { value: node.items[segment] } : undefined;
    const pair = isMap(node) ? node.items.find((item) => keyText(item) === String(segment)) : undefined;
    return pair && { key: pair.key, value: pair.value };
  }

  #collectErrors(): Diagnostic[] {
    const found: Diagnostic[] = [];
    const report = (offset: number, message: string) => {
      const { line, column } = this.positionAt(offset);
      // One mistake can cause several parser errors on a line.
      if (found.every((other) => other.line !== line))
        found.push({ file: this.name, line, column, severity: 'error', message });
    };
    for (const error of [...this.document.errors, ...this.document.warnings]) {
      const offset = error.code === 'MISSING_CHAR' ? this.#openedBefore(error.pos[0]) : error.pos[0];
      report(offset, syntaxMessage({ ...error, pos: [offset, offset] }, this.text));
    }
    const { explicit, version } = this.document.directives?.yaml ?? {};
    if (explicit && version !== '1.2') report(0, 'only YAML 1.2 is read; remove the %YAML line');
    return found.slice(0, MAX_SYNTAX_ERRORS);
  }

  /** The parser reports an unclosed quote at the end of the file; the diagnostic belongs where the quote opens. */
  #openedBefore(offset: number): number {
    let opened = offset;
    visit(this.document, {
      Scalar: (_key, node) => {
        const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
        if (quoted && node.range && node.range[0] < offset && node.range[1] >= offset) opened = node.range[0];
      },
    });
    return opened;
  }
}

/** The text of a key as written in the file; undefined for a key that is not a scalar. */
export function keyText(pair: Pair): string | undefined {
  return isScalar(pair.key) ? (pair.key.source ?? String(pair.key.value)) : undefined;
}

function startOf(node: unknown): number | undefined {
  return isAlias(node) || isMap(node) || isSeq(node) || isScalar(node) ? node.range?.[0] : undefined;
}
