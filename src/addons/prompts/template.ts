import { MAX_DEPTH, parseTag, type Tag } from './tags.ts';

/** The keys that lead to a value, from the outermost object; empty for `{{.}}`. */
export type ValuePath = readonly string[];

export type Token =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly path: ValuePath; readonly at: number }
  | { readonly kind: 'partial'; readonly name: string; readonly at: number }
  | SectionToken;

export interface SectionToken {
  readonly kind: 'section';
  readonly path: ValuePath;
  /** `{{^name}}`: rendered where the value is missing, false or empty. */
  readonly inverted: boolean;
  readonly inner: readonly Token[];
  readonly at: number;
}

export interface TemplateMistake {
  readonly at: number;
  readonly message: string;
  readonly suggestion?: string;
}

export interface Template {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly mistakes: readonly TemplateMistake[];
}

interface Open {
  readonly tag: Tag | undefined;
  readonly tokens: Token[];
}

/** Mustache (https://mustache.github.io/mustache.5.html) without HTML escaping, lambdas and other delimiters. */
export function parseTemplate(text: string): Template {
  const mistakes: TemplateMistake[] = [];
  const open: Open[] = [{ tag: undefined, tokens: [] }];
  const add = (token: Token): void => void open.at(-1)!.tokens.push(token);
  const addText = (from: number, to: number): void => {
    if (to > from) add({ kind: 'text', text: text.slice(from, to) });
  };
  let at = 0;
  for (;;) {
    const start = text.indexOf('{{', at);
    if (start === -1) break;
    const tag = parseTag(text, start);
    if ('message' in tag) {
      mistakes.push({ at: start, message: tag.message });
      addText(at, tag.end);
      at = tag.end;
      continue;
    }
    const { from, to } = lineOf(text, tag);
    addText(at, from);
    at = to;
    const mistake = handle(tag, open, add);
    if (mistake !== undefined) mistakes.push({ at: start, message: mistake });
  }
  addText(at, text.length);
  while (open.length > 1) {
    const { tag, tokens } = open.pop()!;
    mistakes.push({ at: tag!.start, message: `the section \`{{${tag!.sign}${tag!.name}}}\` is never closed` });
    // The names in it are checked too.
    add({ kind: 'section', path: tag!.path, inverted: tag!.sign === '^', inner: tokens, at: tag!.start });
  }
  return { text, tokens: open[0]!.tokens, mistakes };
}

/** Returns the mistake, if the tag is in the wrong place. */
function handle(tag: Tag, open: Open[], add: (token: Token) => void): string | undefined {
  const { sign, name, path, start } = tag;
  if (sign === '#' || sign === '^') {
    if (open.length > MAX_DEPTH) return `sections nest more than ${MAX_DEPTH} levels deep`;
    open.push({ tag, tokens: [] });
  } else if (sign === '/') {
    const { tag: opened } = open.at(-1)!;
    if (!opened) return `\`{{/${name}}}\` closes no section`;
    if (opened.name !== name) return `\`{{/${name}}}\` closes the section \`{{${opened.sign}${opened.name}}}\``;
    const { tokens } = open.pop()!;
    add({ kind: 'section', path: opened.path, inverted: opened.sign === '^', inner: tokens, at: opened.start });
  } else if (sign === '>') add({ kind: 'partial', name, at: start });
  else if (sign === '') add({ kind: 'variable', path, at: start });
  return undefined;
}

/** Tags of sections and comments that stand alone on a line disappear with their line (mustache(5), "Sections"). */
function lineOf(text: string, { start, end, sign }: Tag): { readonly from: number; readonly to: number } {
  const whole = { from: start, to: end };
  if (sign === '' || sign === '>') return whole;
  let from = start;
  while (text[from - 1] === ' ' || text[from - 1] === '\t') from -= 1;
  if (from > 0 && text[from - 1] !== '\n') return whole;
  let to = end;
  while (text[to] === ' ' || text[to] === '\t') to += 1;
  if (to === text.length) return { from, to };
  if (text[to] === '\r' && text[to + 1] === '\n') return { from, to: to + 2 };
  return text[to] === '\n' ? { from, to: to + 1 } : whole;
}

/** The name of the only variable of a template that has nothing else, apart from white space. */
export function onlyVariable({ tokens }: Pick<Template, 'tokens'>): string | undefined {
  const [only, ...others] = tokens.filter((token) => token.kind !== 'text' || token.text.trim() !== '');
  return only?.kind === 'variable' && others.length === 0 && only.path.length === 1 ? only.path[0] : undefined;
}

/** The partials that tokens name, with the offsets of the names. */
export function* partialsIn(tokens: readonly Token[]): Iterable<{ readonly name: string; readonly at: number }> {
  for (const token of tokens) {
    if (token.kind === 'partial') yield token;
    if (token.kind === 'section') yield* partialsIn(token.inner);
  }
}
