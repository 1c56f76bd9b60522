import { styleText } from 'node:util';
import { printable } from '../../../../core/kernel/layout.ts';

/** The role of a piece of text, shown as a colour. */
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

/** Text of one line. Its width is measured before colouring. */
export type Line = readonly TextSpan[];

/** One line of a section. The right parts of a section's rows are aligned in one column. */
export interface Row {
  readonly left: Line;
  readonly right?: Line;
  /** Never wrapped, so that it can be copied in one piece. */
  readonly whole?: boolean;
}

export interface Section {
  readonly label: string;
  readonly rows: readonly Row[];
}

export interface PageFormat {
  readonly width: number;
  readonly colour: boolean;
}

export const span = (text: string, tone?: Tone): TextSpan => (tone ? { text, tone } : { text });
export const row = (left: string | Line, right?: Line): Row => ({
  left: typeof left === 'string' ? [span(left)] : left,
  ...(right && right.length > 0 && { right }),
});

export const LABEL_WIDTH = 12;
/** Maximum left width for alignment: one long value must not push all sources off the screen. */
const WIDEST_LEFT = 44;
export const INDENT = 2;

/** Renders a section: its label in the first column, its rows in the second. */
export function printSection({ label, rows }: Section, page: PageFormat, depth = 0): string[] {
  const indent = ' '.repeat(depth * INDENT);
  return printRows(rows, Math.max(page.width - indent.length - LABEL_WIDTH, 20), page).map((line, index) => {
    const head = index === 0 ? label : '';
    const padding = ' '.repeat(Math.max(LABEL_WIDTH - head.length, 1));
    return (indent + paint(span(head, 'title'), page) + padding + line).trimEnd();
  });
}

/** Renders rows without a label, from the first column. */
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
  // A right part that does not fit goes below. A file position must not be wrapped, or editors cannot open it.
  const indent = ' '.repeat(Math.max(4, leadOf(left) + 2));
  return [...leftLines, ...wrap(right, room - indent.length).map((line) => [span(indent), ...line])];
}

/** Number of leading spaces of a line; continuation lines are indented further. */
const leadOf = (line: Line): number => /^ */.exec(line.map(({ text }) => text).join(''))?.[0].length ?? 0;

const widthOf = (line: Line): number => line.reduce((sum, { text }) => sum + lengthOf(text), 0);

/** Width in terminal columns: East Asian characters and emoji take two, combining marks none. */
const lengthOf = (text: string): number => {
  const shown = printable(text);
  // Fast path for plain text.
  if (/^[\x20-\x7e\u2190-\u2193]*$/.test(shown)) return shown.length;
  let length = 0;
  for (const character of shown) length += WIDE.test(character) ? 2 : Number(!COMBINING.test(character));
  return length;
};

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const COMBINING = /[\p{Mn}\p{Me}]/u;

/** Wraps at spaces only. */
function wrap(line: Line, room: number): Line[] {
  if (widthOf(line) <= room) return [line];
  const indent = ' '.repeat(leadOf(line) + 2);
  const lines: TextSpan[][] = [[]];
  let used = 0;
  for (const { text, tone } of line) {
    // An arrow is not separated from the following word.
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

function paint({ text, tone }: TextSpan, { colour }: Pick<PageFormat, 'colour'>): string {
  const shown = printable(text);
  // The caller has already checked that the terminal supports colour.
  return colour && tone && shown !== '' ? styleText(STYLES[tone], shown, { validateStream: false }) : shown;
}
