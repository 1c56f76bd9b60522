import { styleText } from 'node:util';

/** What a piece of text is, for those who see colours. */
export type Tone = 'title' | 'aside' | 'good' | 'bad' | 'warn' | 'value';

const STYLES = {
  title: 'bold',
  aside: 'dim',
  good: 'green',
  bad: 'red',
  warn: 'yellow',
  value: 'cyan',
} as const satisfies Record<Tone, Parameters<typeof styleText>[0]>;

export interface TextSpan {
  readonly text: string;
  readonly tone?: Tone;
}

/** Text of one line. Its width is counted before it is coloured. */
export type Line = readonly TextSpan[];

/** One line of a section. What stands right of it begins at one column in all rows of a section. */
export interface Row {
  readonly left: Line;
  readonly right?: Line;
  /** It is copied as one piece, however long it is. */
  readonly whole?: boolean;
}

export interface Section {
  readonly label: string;
  readonly rows: readonly Row[];
}

export interface PageFormat {
  /** Columns. */
  readonly width: number;
  readonly colour: boolean;
}

export const span = (text: string, tone?: Tone): TextSpan => (tone ? { text, tone } : { text });
export const row = (left: string | Line, right?: Line): Row => ({
  left: typeof left === 'string' ? [span(left)] : left,
  ...(right && right.length > 0 && { right }),
});

export const LABEL_WIDTH = 12;
/** Right of it nothing is aligned: one long value must not push the sources of all others off the screen. */
const WIDEST_LEFT = 44;
export const INDENT = 2;

/** A section: its label in a column of its own, its rows beside it. */
export function printSection({ label, rows }: Section, page: PageFormat, depth = 0): string[] {
  const indent = ' '.repeat(depth * INDENT);
  const room = Math.max(page.width - indent.length - LABEL_WIDTH, 20);
  const lines = printRows(rows, room, page);
  return lines.map((line, index) => {
    const head = index === 0 ? label : '';
    const padding = ' '.repeat(Math.max(LABEL_WIDTH - head.length, 1));
    return (indent + paint(span(head, 'title'), page) + padding + line).trimEnd();
  });
}

/** Rows under no label, from the first column on. */
export const printBlock = (rows: readonly Row[], page: PageFormat): string[] =>
  printRows(rows, page.width, page).map((line) => line.trimEnd());

function printRows(rows: readonly Row[], room: number, page: PageFormat): string[] {
  const widths = rows.filter(({ right }) => right).map(({ left }) => widthOf(left));
  const column = Math.max(0, ...widths.filter((width) => width <= WIDEST_LEFT));
  return rows.flatMap((one) => layRow(one, { room, column }).map((line) => paintLine(line, page)));
}

function layRow({ left, right, whole }: Row, { room, column }: { room: number; column: number }): Line[] {
  const leftLines = whole ? [left] : wrap(left, room);
  if (!right) return leftLines;
  const width = widthOf(left);
  const needed = widthOf(right);
  const gaps = [column - width + 2, 2].filter((gap) => gap >= 2 && width + gap + needed <= room);
  const [gap] = gaps;
  if (gap !== undefined) return [[...left, span(' '.repeat(gap)), ...right]];
  // What does not fit beside it stands below it; a place must stay whole, or no editor opens it.
  const indent = ' '.repeat(Math.max(4, leadOf(left) + 2));
  return [...leftLines, ...wrap(right, room - indent.length).map((line) => [span(indent), ...line])];
}

/** Spaces that a line begins with: what belongs to it stands further in. */
const leadOf = (line: Line): number => /^ */.exec(line.map(({ text }) => text).join(''))?.[0].length ?? 0;

const widthOf = (line: Line): number => line.reduce((sum, { text }) => sum + lengthOf(text), 0);

/** In columns of a terminal: what is written in East Asia, and emoji, take two; marks over a letter none. */
const lengthOf = (text: string): number => {
  const shown = printable(text);
  // Nearly all of it is plain.
  if (/^[\x20-\x7e\u2190-\u2193]*$/.test(shown)) return shown.length;
  let length = 0;
  for (const character of shown) length += WIDE.test(character) ? 2 : Number(!COMBINING.test(character));
  return length;
};

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const COMBINING = /[\p{Mn}\p{Me}]/u;

/** Breaks at spaces only; what holds none stays whole. */
export function wrap(line: Line, room: number): Line[] {
  if (widthOf(line) <= room) return [line];
  const indent = ' '.repeat(leadOf(line) + 2);
  const lines: TextSpan[][] = [[]];
  let used = 0;
  for (const { text, tone } of line) {
    // An arrow stays with what it leads to.
    for (const word of text.split(/(?<=(?<!←) )/)) {
      const length = lengthOf(word);
      if (used > 0 && used + lengthOf(word.trimEnd()) > room) {
        lines.push([span(indent)]);
        used = indent.length;
      }
      lines.at(-1)!.push(tone ? { text: word, tone } : { text: word });
      used += length;
    }
  }
  return lines;
}

const paintLine = (line: Line, page: PageFormat): string => line.map((piece) => paint(piece, page)).join('');

export function paint({ text, tone }: TextSpan, { colour }: Pick<PageFormat, 'colour'>): string {
  const shown = printable(text);
  // Whether there is a terminal that shows it has been found out by whoever asks for colour.
  return colour && tone && shown !== '' ? styleText(STYLES[tone], shown, { validateStream: false }) : shown;
}

/** What callers and files say is shown, but not obeyed: no control character, and no mark that turns the direction of writing, reaches a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
