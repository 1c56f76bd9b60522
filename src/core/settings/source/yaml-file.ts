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
  type YAMLError,
} from 'yaml';
import type { Problem } from '../../kernel/report.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { JsonPath } from '../schema/pointer.ts';

/** Further syntax errors in one file are consequences of the first ones. */
const MAX_SYNTAX_ERRORS = 10;

interface Position {
  readonly line: number;
  readonly column: number;
}

const START: Position = { line: 1, column: 1 };

/** A settings file with its syntax tree, which gives the position of every node. */
export class YamlFile {
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

  /** The position of the nth occurrence of a text inside the scalar at `path`; of the scalar, where it is not found. */
  locateText(path: JsonPath, { text, nth }: { readonly text: string; readonly nth: number }): Position {
    const node = path.reduce<Node | undefined>(
      (at, segment) => this.resolve(this.#step(at, segment)?.value),
      this.resolve(this.document.contents),
    );
    const [start = 0, end = 0] = isScalar(node) ? (node.range ?? []) : [];
    let at = start - 1;
    for (let left = nth; left >= 0; left -= 1) {
      at = this.text.indexOf(text, at + 1);
      if (at === -1 || at >= end) return this.locate(path);
    }
    return this.positionAt(at);
  }

  /** A problem with its position. @param path in the spellings of this file */
  diagnose({ path, on, severity = 'error', message, suggestion }: Problem): Diagnostic {
    const place = { file: this.name, ...this.locate(path, on), severity, message };
    return suggestion === undefined ? place : { ...place, suggestion };
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
      const deeper = deeperLine(error, this.document.errors, this.text);
      const offset = deeper ?? (error.code === 'MISSING_CHAR' ? this.#openedBefore(error.pos[0]) : error.pos[0]);
      if (deeper !== undefined || error.code === 'BAD_INDENT') report(offset, indentMessage(this.text, offset));
      else if (error.code === 'DUPLICATE_KEY') report(offset, this.#duplicateMessage(offset));
      else report(offset, syntaxMessage({ ...error, pos: [offset, offset] }, this.text));
    }
    const { explicit, version } = this.document.directives?.yaml ?? {};
    if (explicit && version !== '1.2') report(0, 'only YAML 1.2 is read; remove the %YAML line');
    return found.slice(0, MAX_SYNTAX_ERRORS);
  }

  #duplicateMessage(offset: number): string {
    let first: number | undefined;
    visit(this.document, {
      Map: (_key, map) => {
        const again = map.items.find((pair) => startOf(pair.key) === offset);
        const same = again && map.items.find((pair) => keyText(pair) === keyText(again));
        if (!same) return undefined;
        first = startOf(same.key);
        return visit.BREAK;
      },
    });
    const where = first === undefined ? '' : `; the first is in line ${this.positionAt(first).line}`;
    return `this key appears twice${where}`;
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
export const keyText = (pair: Pair): string | undefined =>
  isScalar(pair.key) ? (pair.key.source ?? String(pair.key.value)) : undefined;

const startOf = (node: unknown): number | undefined =>
  isAlias(node) || isMap(node) || isSeq(node) || isScalar(node) ? node.range?.[0] : undefined;

type Code = YAMLError['code'];

/** By the parser's codes. Its own messages quote the source, which may contain a secret. */
const MESSAGES: Partial<Record<Code, string>> = {
  ALIAS_PROPS: 'an alias cannot have an anchor or tag of its own',
  BAD_ALIAS: 'this alias has no name',
  BAD_COLLECTION_TYPE: 'this tag does not fit the value',
  BAD_DIRECTIVE: 'this line starts with % and is not a YAML directive',
  BAD_DQ_ESCAPE: 'unknown escape in a double-quoted string; use single quotes for text with backslashes',
  BAD_PROP_ORDER: 'an anchor or tag is in the wrong place',
  BLOCK_AS_IMPLICIT_KEY: 'a second `key:` on one line; put it on a line of its own, or quote the value',
  BLOCK_IN_FLOW: 'indented blocks are not allowed inside [ ] or { }',
  IMPOSSIBLE: 'this is not YAML',
  KEY_OVER_1024_CHARS: 'this key is too long',
  MISSING_CHAR: 'a bracket or quote that opens here is not closed',
  MULTILINE_IMPLICIT_KEY: 'this line is neither a `key: value` nor the continuation of one',
  MULTIPLE_ANCHORS: 'a value can have one anchor only',
  MULTIPLE_DOCS: 'a file must be one document; `---` starts a second one',
  MULTIPLE_TAGS: 'a value can have one tag only',
  NON_STRING_KEY: 'keys are text',
  RESOURCE_EXHAUSTION: 'nested too deeply',
  TAB_AS_INDENT: 'a tab in the indentation; YAML requires spaces',
  TAG_RESOLVE_FAILED: 'tags (`!…`) are not supported',
  UNEXPECTED_TOKEN: 'this is not allowed here',
};

function syntaxMessage({ code, pos }: YAMLError, text: string): string {
  const at = text[pos[0]] ?? '';
  if (code === 'BAD_SCALAR_START') return `a value cannot start with \`${at}\`; put it in quotes`;
  if (code === 'MISSING_CHAR' && (at === '"' || at === "'")) return 'this quote is not closed';
  const line = text.slice(text.lastIndexOf('\n', pos[0] - 1) + 1, pos[0] + 1);
  const isReference = code === 'MISSING_CHAR' ? text.startsWith('${', pos[0] - 1) : line.includes('${');
  if ((code === 'UNEXPECTED_TOKEN' || code === 'MISSING_CHAR') && isReference)
    return 'put `${…}` in quotes inside [ ] or { }, as in [ "${env:NAME}" ]';
  return MESSAGES[code] ?? 'this is not YAML';
}

/** A key in a line that is indented deeper than the value above: the parser takes both lines as one key. */
function deeperLine({ code, pos: [from] }: YAMLError, errors: readonly YAMLError[], text: string): number | undefined {
  const both = errors.filter(({ pos }) => pos[0] === from);
  const key = both.find((one) => one.code === 'MULTILINE_IMPLICIT_KEY');
  if (!key || !DEEPER.has(code) || !both.some((one) => one.code === 'BLOCK_AS_IMPLICIT_KEY')) return undefined;
  const end = text.lastIndexOf('\n', key.pos[1]);
  return end < from ? undefined : end + 1 + spacesAt(text, end + 1);
}

const DEEPER: ReadonlySet<Code> = new Set<Code>(['BLOCK_AS_IMPLICIT_KEY', 'MULTILINE_IMPLICIT_KEY']);

const spacesAt = (text: string, from: number): number => /^ */.exec(text.slice(from))![0].length;

/** The columns at which the keys above begin are those that the line may have. */
function indentMessage(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const own = spacesAt(text, start);
  const above = text
    .slice(0, start)
    .split('\n')
    .filter((line) => /^[ -]*[^\s#-]/.test(line));
  const columns = [...new Set(above.map((line) => /^[ -]*/.exec(line)![0].length))];
  const less = Math.max(...columns.filter((column) => column < own));
  const more = Math.min(...columns.filter((column) => column > own));
  if (columns.includes(own)) return 'wrong indentation, or a bracket that is not closed';
  const near = [less, more].filter(Number.isFinite).join(' or ');
  return `wrong indentation: ${own === 1 ? '1 space' : `${own} spaces`}, where the lines above have ${near}`;
}
