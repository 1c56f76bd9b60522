import fc from 'fast-check';

export interface GeneratedFile {
  readonly text: string;
  /** Comments within each entry, which are removed with it. */
  readonly inside: readonly (readonly string[])[];
  /** All other comments. */
  readonly outside: readonly string[];
}

interface Entry {
  readonly style: 'lines' | 'one line' | 'block scalar' | 'dash alone' | 'anchor';
  readonly comments: readonly [above: boolean, first: boolean, between: boolean, last: boolean];
  readonly blank: boolean;
}

const entries = fc.array(
  fc.record<Entry>({
    style: fc.constantFrom('lines', 'one line', 'block scalar', 'dash alone', 'anchor'),
    comments: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()),
    blank: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);

const layouts = fc.record({
  indent: fc.constantFrom(0, 2, 4),
  eol: fc.constantFrom('\n', '\r\n'),
  finalNewline: fc.boolean(),
  before: fc.boolean(),
  after: fc.boolean(),
});
type Layout = typeof layouts extends fc.Arbitrary<infer L> ? L : never;

/** keys.yaml as people write it: comments in any place, with and without a final newline. */
export const keysFiles = (): fc.Arbitrary<GeneratedFile> =>
  fc.tuple(layouts, entries).map(([layout, given]) => block(layout, given));

/** Numbers the comments, so that each can be found again. */
class Comments {
  readonly inside: string[][] = [];
  readonly outside: string[] = [];
  #count = 0;

  make(wanted: boolean, entry?: number): string {
    if (!wanted) return '';
    this.#count += 1;
    const comment = `# comment ${this.#count}`;
    if (entry === undefined) this.outside.push(comment);
    else this.inside[entry]!.push(comment);
    return comment;
  }

  of(lines: readonly string[], { eol, finalNewline }: Layout): GeneratedFile {
    return { text: `${lines.join(eol)}${finalNewline ? eol : ''}`, inside: this.inside, outside: this.outside };
  }
}

const behind = (text: string, comment: string): string => (comment === '' ? text : `${text} ${comment}`);
const own = (indent: string, comment: string): string[] => (comment === '' ? [] : [`${indent}${comment}`]);

function block(layout: Layout, given: readonly Entry[]): GeneratedFile {
  const comments = new Comments();
  const indent = ' '.repeat(layout.indent);
  const lines = [...own('', comments.make(layout.before)), behind('keys:', comments.make(layout.before))];
  for (const [index, entry] of given.entries()) {
    comments.inside.push([]);
    if (entry.blank && index > 0) lines.push('');
    lines.push(...own(indent, comments.make(entry.comments[0])));
    lines.push(...blockEntry(entry, index, comments).map((line) => (line === '' ? '' : indent + line)));
  }
  if (layout.after) lines.push('', `${indent}${comments.make(true)}`, comments.make(true));
  return comments.of(lines, layout);
}

function blockEntry({ style, comments: [, first, between, last] }: Entry, index: number, comments: Comments): string[] {
  const make = (wanted: boolean) => comments.make(wanted, index);
  if (style === 'one line') return [behind(`- { id: k${index}, networks: [a, "b # no comment"] }`, make(first))];
  const head = { 'dash alone': ['-', `  id: k${index}`], anchor: [`- &a${index}`, `  id: k${index}`] };
  const [start, ...rest] = style === 'dash alone' || style === 'anchor' ? head[style] : [`- id: k${index}`];
  const body = [behind(start!, make(first)), ...rest, ...own('  ', make(between))];
  return style === 'block scalar'
    ? [...body, '  key: |-', '    # no comment', '', '    text']
    : [...body, '  networks:', behind('    - 10.0.0.0/8', make(last))];
}
