import { eachMember, itemSpans, unquoted, type JsonSpan, type KeptItem } from '../../src/plugin/index.ts';

/** What must be known of a response to find it again, and its items. */
interface ResponsePlaces {
  readonly id: string;
  readonly status: string;
  readonly output: JsonSpan;
  readonly items: readonly KeptItem[];
}

const NOWHERE: JsonSpan = { from: 0, to: 0 };

/**
 * Finds the items of a response without parsing it, because few responses are read again (measured: 3 µs of 2 KB, against 20 for
 * parsing it and writing its parts). Undefined: it has no id or no state.
 */
export function placesIn(response: Buffer): ResponsePlaces | undefined {
  // JSON's own characters are ASCII, so the places are those of the bytes.
  const text = response.toString('latin1');
  let id: string | undefined;
  let status: string | undefined;
  let output: JsonSpan | undefined;
  eachMember(text, 0, (key, value) => {
    if (key === 'id') id = stringAt(response, value);
    else if (key === 'status') status = stringAt(response, value);
    else if (key === 'output') output = value;
    return id === undefined || status === undefined || output === undefined;
  });
  if (id === undefined || status === undefined) return undefined;
  return { id, status, output: output ?? NOWHERE, items: output ? itemsIn(response, text, output) : [] };
}

function itemsIn(response: Buffer, text: string, { from }: JsonSpan): KeptItem[] {
  const items: KeptItem[] = [];
  for (const span of itemSpans(text, from)) {
    eachMember(text, span.from, (key, value) => {
      const id = key === 'id' ? stringAt(response, value) : undefined;
      if (id !== undefined) items.push({ id, ...span });
      return key !== 'id';
    });
  }
  return items;
}

/** A string of its own: part of the text would hold all of it. */
function stringAt(bytes: Buffer, { from, to }: JsonSpan): string | undefined {
  return bytes[from] === QUOTE ? unquoted(bytes.toString('utf8', from, to)) : undefined;
}

const QUOTE = 0x22;
