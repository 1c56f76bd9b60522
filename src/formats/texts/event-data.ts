import { ReplyFault } from '../faults.ts';
import { OPEN_OBJECT } from '../json/scan.ts';

export interface EventData {
  /** The text that has the event: the given one, or the event alone, written anew. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** Index of its JSON, or of `[DONE]`; -1 for an event without data. */
  readonly data: number;
}

interface EventSpan {
  readonly from: number;
  readonly to: number;
  /** The view may have lines that end in CR. */
  readonly returns: boolean;
}

const DATA = 'data:';
const SPACE = 0x20;
const LINE_END = /[\r\n]/g;

/** Finds the data of a server-sent event. Data in several lines become one line: together they are the JSON. */
export function dataOf(view: string, { from, to, returns }: EventSpan): EventData {
  const own = view.startsWith(DATA, from);
  // A search in the whole view would read the events behind this one too.
  const event = own ? '' : view.slice(from, to);
  const line = own ? from : from + lineOf(event, 0);
  if (!own && line < from) return { text: view, from, to, data: -1 };
  const data = valueAt(view, line);
  const lf = view.indexOf('\n', data);
  // Most events end right behind their data.
  if (!returns && lf + 2 === to) return checked({ text: view, from, to, data }, lf);
  LINE_END.lastIndex = data;
  const end = LINE_END.exec(view)?.index ?? to;
  if (to - end > 4 && lineOf(view.slice(end, to), 0) >= 0) return joinedData(view.slice(from, to));
  return checked({ text: view, from, to, data }, end);
}

function checked(event: EventData, end: number): EventData {
  const { text, data } = event;
  if (data >= end) return { ...event, data: -1 };
  if (text.charCodeAt(data) === OPEN_OBJECT || text.startsWith('[DONE]', data)) return event;
  throw new ReplyFault('an event is not valid JSON, so that its texts cannot be read');
}

/** Index of the next line of data that is not the first line of the event; -1 without one. */
function lineOf(event: string, from: number): number {
  const lf = event.indexOf(`\n${DATA}`, from);
  const cr = event.indexOf(`\r${DATA}`, from);
  const at = lf < 0 ? cr : cr < 0 ? lf : Math.min(lf, cr);
  return at < 0 ? -1 : at + 1;
}

const valueAt = (text: string, line: number): number => {
  const at = line + DATA.length;
  return text.charCodeAt(at) === SPACE ? at + 1 : at;
};

function joinedData(event: string): EventData {
  const lines = event.split(/\r\n|\n|\r/);
  const data = lines.filter((line) => line.startsWith(DATA)).map((line) => line.slice(valueAt(line, 0)));
  const others = lines.filter((line) => line !== '' && !line.startsWith(DATA));
  const head = others.map((line) => `${line}\n`).join('');
  const text = `${head}data: ${data.join(' ')}\n\n`;
  return checked({ text, from: 0, to: text.length, data: head.length + 'data: '.length }, text.length - 2);
}
