/** A part of a settings file as far as it can be read: a text that is being written has no other form yet. Offsets are those of the text. */
export type YamlNode =
  | { readonly kind: 'map'; readonly from: number; readonly entries: YamlEntry[] }
  | { readonly kind: 'seq'; readonly from: number; readonly items: YamlNode[] }
  | { readonly kind: 'scalar'; readonly from: number; readonly to: number; readonly text: string };

export interface YamlEntry {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  value: YamlNode | undefined;
}

/** Where a text ends: the keys and indexes around it, and the word that is being written there. */
export interface YamlPlace {
  readonly path: readonly (string | number)[];
  /** `item`: of a list, a value or the first key of a map. */
  readonly in: 'key' | 'value' | 'item';
  readonly word: { readonly from: number; readonly text: string; readonly quote: string };
}

interface Frame {
  readonly node: Extract<YamlNode, { kind: 'map' | 'seq' }>;
  /** The column of a block; undefined: a flow collection. */
  readonly indent: number | undefined;
  /** The key whose value comes next. */
  entry: YamlEntry | undefined;
}

interface Line {
  readonly start: number;
  readonly text: string;
}

/** Deeper texts are read to there. */
const MAX_DEPTH = 200;

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#{}[\],&*!|>'"%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)/;

/** Reads block and flow collections, comments, quotes and block scalars; anchors, tags and aliases are texts. Its cost is linear. */
class Scanner {
  readonly #text: string;
  readonly #end: number;
  readonly #frames: Frame[] = [];
  root: YamlNode | undefined;
  /** The indent of a block scalar's owner, while the lines are its own. */
  #block: number | undefined;
  #word = { from: 0, text: '', quote: '' };
  #isItem = false;
  #isComment = false;

  constructor(text: string, end: number) {
    this.#text = text;
    this.#end = end;
  }

  run(): void {
    let start = 0;
    for (const text of this.#text.slice(0, this.#end).split('\n')) {
      if (this.#frames.length > MAX_DEPTH) return;
      this.#line({ start, text });
      start += text.length + 1;
    }
  }

  get #top(): Frame | undefined {
    return this.#frames.at(-1);
  }

  place(): YamlPlace | undefined {
    if (this.#block !== undefined || this.#isComment || this.#frames.length > MAX_DEPTH) return undefined;
    const path = this.#frames.flatMap(({ node, entry }, index): (string | number)[] => {
      if (node.kind === 'map') return entry ? [entry.key] : [];
      return [Math.max(0, node.items.length - (this.#isInLast(node, index) ? 1 : 0))];
    });
    const top = this.#top;
    const inside =
      !top || (top.node.kind === 'map' && !top.entry)
        ? 'key'
        : top.node.kind === 'seq' || this.#isItem
          ? 'item'
          : 'value';
    return { path, in: inside, word: this.#word };
  }

  /** The last item of the list is the one in which the text ends. */
  #isInLast({ items }: Extract<YamlNode, { kind: 'seq' }>, index: number): boolean {
    const last = items.at(-1);
    const inner = this.#frames[index + 1]?.node;
    if (inner || last?.kind !== 'scalar') return last !== undefined && last === inner;
    return this.#word.text !== '' && last.to >= this.#word.from;
  }

  #line({ start, text }: Line): void {
    this.#isComment = false;
    const isLast = start + text.length === this.#end;
    const column = /^ */.exec(text)![0].length;
    const isBlank = column === text.length || text[column] === '\r';
    if (this.#block !== undefined) {
      if ((isBlank && !isLast) || column > this.#block) return;
      this.#block = undefined;
    }
    if (this.#top && this.#top.indent === undefined) return this.#flow({ start, text }, 0);
    if (isBlank) return isLast ? this.#atColumn(start, column) : undefined;
    if (text[column] === '#') return void (this.#isComment = true);
    this.#content({ start, text }, column);
  }

  #content(line: Line, column: number): void {
    const { start, text } = line;
    const dash = /^-(?: +|$)/.exec(text.slice(column))?.[0];
    if (dash !== undefined) {
      while ((this.#top?.indent ?? -1) > column) this.#frames.pop();
      if (this.#top?.node.kind !== 'seq' || this.#top.indent !== column)
        this.#push({ kind: 'seq', from: start + column, items: [] }, column);
      this.#isItem = true;
      const inner = column + dash.length;
      if (inner < text.length) return this.#content(line, inner);
      return this.#setWord(start + inner, '');
    }
    const found = KEY.exec(text.slice(column));
    if (!found) return this.#rest(line, column);
    this.#openMap(start + column, column);
    const written = found[1]!;
    const entry: YamlEntry = {
      key: /^["']/.test(written) ? written.slice(1, -1) : written,
      from: start + column,
      to: start + column + written.length,
      value: undefined,
    };
    const top = this.#top!;
    if (top.node.kind === 'map') top.node.entries.push(entry);
    top.entry = entry;
    this.#isItem = false;
    const after = column + found[0].length;
    const gap = /^ */.exec(text.slice(after))![0].length;
    this.#value(line, after + gap);
  }

  /** The map whose keys begin at the column. */
  #openMap(from: number, column: number): void {
    this.#popTo(column);
    if (this.#top?.node.kind === 'map' && this.#top.indent === column) return;
    this.#push({ kind: 'map', from, entries: [] }, column);
  }

  #popTo(column: number): void {
    while (
      this.#top &&
      ((this.#top.indent ?? 0) > column || (this.#top.node.kind === 'seq' && this.#top.indent === column))
    )
      this.#frames.pop();
  }

  #value(line: Line, column: number): void {
    const { start, text } = line;
    const rest = text.slice(column);
    if (/^[|>][-+\d]*\s*(?:#.*)?$/.test(rest)) this.#block = this.#top?.indent ?? 0;
    else if (/^[{[]/.test(rest)) this.#flow(line, column);
    else if (rest.trim() === '' || rest.startsWith('#')) this.#afterEmpty(start + column, rest);
    else this.#scalar(start + column, rest);
  }

  #afterEmpty(from: number, rest: string): void {
    this.#isComment = rest.startsWith('#');
    this.#setWord(from, '');
  }

  /** A line without a key: a value of a list, the rest of a text, or a key that is being written. */
  #rest(line: Line, column: number): void {
    const { start, text } = line;
    const rest = text.slice(column);
    if (/^[{[]/.test(rest)) return this.#value(line, column);
    if (this.#isItem && (this.#top?.indent ?? -1) < column) return this.#scalar(start + column, rest);
    this.#isItem = false;
    this.#atColumn(start, column);
    this.#setWord(start + column, rest);
  }

  /** The text ends at this column of a line without a key: in the map that has it, or in a new one. */
  #atColumn(start: number, column: number): void {
    this.#isItem = false;
    this.#popTo(column);
    const top = this.#top;
    if (top?.node.kind === 'map' && top.indent === column) top.entry = undefined;
    else if (!top || top.entry?.value === undefined || top.node.kind === 'seq')
      this.#push({ kind: 'map', from: start + column, entries: [] }, column);
    this.#setWord(start + column, '');
  }

  #scalar(from: number, rest: string): void {
    const quote = /^["']/.exec(rest)?.[0] ?? '';
    const closed = quote === '' ? -1 : rest.indexOf(quote, 1);
    const comment = quote === '' ? rest.search(/\s#/) : -1;
    this.#isComment = comment >= 0;
    const written = (comment >= 0 ? rest.slice(0, comment) : closed > 0 ? rest.slice(0, closed + 1) : rest).trimEnd();
    const text = closed > 0 ? written.slice(1, -1) : written.slice(quote.length);
    this.#add({ kind: 'scalar', from, to: from + written.length, text });
    this.#word = { from: from + quote.length, text: rest.slice(quote.length), quote };
  }

  #setWord(from: number, rest: string): void {
    const quote = /^["']/.exec(rest)?.[0] ?? '';
    this.#word = { from: from + quote.length, text: rest.slice(quote.length), quote };
  }

  #flow(line: Line, from: number): void {
    const { start, text } = line;
    const token =
      /\s*(?:(#.*)|([{[])|([}\]])|(,)|(:)(?=\s|$|[,[{}\]])|("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|((?:[^\s,{}[\]:#]|:(?=\S)(?![,{}[\]])|#)+(?: +(?:[^\s,{}[\]:#]|:(?=\S))+)*))/gy;
    token.lastIndex = from;
    for (let found = token.exec(text); found && found[0] !== ''; found = token.exec(text)) {
      if (this.#frames.length > MAX_DEPTH) return;
      const [whole, comment, open, close, comma, colon, quoted, plain] = found;
      const at = start + found.index + whole.length;
      if (comment !== undefined) return void (this.#isComment = start + text.length === this.#end);
      if (open !== undefined)
        this.#push(
          open === '{' ? { kind: 'map', from: at - 1, entries: [] } : { kind: 'seq', from: at - 1, items: [] },
          undefined,
        );
      if (close !== undefined) {
        this.#frames.pop();
        // A block goes on behind it, or nothing.
        if (!this.#top || this.#top.indent !== undefined) return;
      }
      if ((comma !== undefined || open !== undefined) && this.#top) this.#top.entry = undefined;
      if (open !== undefined || comma !== undefined || colon !== undefined)
        this.#setWord(at + /^ */.exec(text.slice(at - start))![0].length, '');
      const word = quoted ?? plain;
      if (word !== undefined) this.#flowWord(at - word.length, word);
    }
  }

  #flowWord(from: number, word: string): void {
    const top = this.#top!;
    const line = this.#text.slice(from + word.length, this.#end);
    const isKey = top.node.kind === 'map' && !top.entry && /^\s*:/.test(line);
    const quote = /^["']/.exec(word)?.[0] ?? '';
    const text = quote === '' ? word : word.slice(1, word.endsWith(quote) && word.length > 1 ? -1 : undefined);
    if (isKey && top.node.kind === 'map') {
      top.entry = { key: text, from, to: from + word.length, value: undefined };
      top.node.entries.push(top.entry);
    } else if (top.node.kind === 'seq' || top.entry) this.#add({ kind: 'scalar', from, to: from + word.length, text });
    this.#word = { from: from + quote.length, text: word.slice(quote.length), quote };
  }

  #push(node: Frame['node'], indent: number | undefined): void {
    this.#add(node);
    this.#frames.push({ node, indent, entry: undefined });
  }

  #add(node: YamlNode): void {
    const top = this.#top;
    if (!top) this.root ??= node;
    else if (top.node.kind === 'seq') top.node.items.push(node);
    else if (top.entry) top.entry.value = node;
  }
}

export function readYaml(text: string): YamlNode | undefined {
  const scanner = new Scanner(text, text.length);
  scanner.run();
  return scanner.root;
}

/** Undefined: in a comment or in a text of several lines. */
export function placeAt(text: string, offset: number): YamlPlace | undefined {
  const scanner = new Scanner(text, offset);
  scanner.run();
  return scanner.place();
}

export function nodeAt(root: YamlNode | undefined, path: readonly (string | number)[]): YamlNode | undefined {
  return path.reduce<YamlNode | undefined>((node, step) => {
    if (typeof step === 'number') return node?.kind === 'seq' ? node.items[step] : undefined;
    return node?.kind === 'map' ? node.entries.find(({ key }) => key === step)?.value : undefined;
  }, root);
}

/** The texts of a map's members; undefined: a member is no text. */
export const memberOf = (node: YamlNode | undefined, key: string): string | undefined => {
  const value = nodeAt(node, [key]);
  return value?.kind === 'scalar' ? value.text : undefined;
};
