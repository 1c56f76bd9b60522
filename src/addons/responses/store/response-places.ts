import { eachMember, itemSpans, type JsonSpan } from '../../../formats/json/members.ts';
import { isObject } from '../../../formats/json/object.ts';
import { unquoted } from '../../../formats/json/scan.ts';
import type { KeptItem } from '../../../core/kernel/index.ts';

/**
 * The part of an id that a response of the gateway and its items have in common: 28 of its 32 digits. In other ids it is the whole id, or
 * a part that no other has.
 */
export function familyOf(id: string): JsonSpan {
  const from = id.indexOf('_') + 1;
  return from > 0 && id.length - from === DIGITS ? { from, to: id.length - OWN_DIGITS } : { from: 0, to: id.length };
}

const DIGITS = 32;
/** The digits of an item's id that are its own. */
const OWN_DIGITS = 4;

/** The fields of a response about itself, and the places of its items. */
interface ResponsePlaces {
  readonly id: string;
  readonly status: string;
  readonly items: readonly KeptItem[];
}

/** Finds the items of a response without parsing them. Undefined: it has no id or no state. */
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
  return { id, status, items: output ? itemsAt(response, text, output) : [] };
}

/** The output items of a response that have ids. */
export const itemsIn = (response: Buffer): readonly KeptItem[] => placesIn(response)?.items ?? [];

/** The list of a response's output items, as JSON. */
export function outputOf(response: Buffer): Buffer {
  let output: JsonSpan = { from: 0, to: 0 };
  eachMember(response.toString('latin1'), 0, (key, value) => {
    if (key === 'output') output = value;
    return key !== 'output';
  });
  return response.subarray(output.from, output.to);
}

/** Ids of the gateway are in a family: those of other vendors are longer. */
export const isOwnId = (id: string): boolean => familyOf(id).to < id.length;

/** The vendor that wrote the response keeps it too, so that it finds the items by their ids. */
export function isKeptByVendor(response: Buffer): boolean {
  const text = response.toString('latin1');
  let stored = false;
  let own = false;
  eachMember(text, 0, (key, value) => {
    if (key === 'store') stored = text.slice(value.from, value.to) === 'true';
    else if (key === 'id') own = isOwnId(stringAt(response, value) ?? '');
    return true;
  });
  return stored && !own;
}

/** The id of an object that is JSON. Most begin with it. */
export function idIn(object: Buffer): string | undefined {
  const start = object.toString('latin1', 0, MOST_BEFORE);
  const id = idBefore(object, start, start.length);
  return id === undefined && object.length > MOST_BEFORE ? idBefore(object, object.toString('latin1')) : id;
}

const MOST_BEFORE = 256;

function idBefore(object: Buffer, text: string, end = Number.POSITIVE_INFINITY): string | undefined {
  let id: string | undefined;
  eachMember(text, 0, (key, value) => {
    if (key === 'id' && value.to < end) id = stringAt(object, value);
    return key !== 'id';
  });
  return id;
}

function itemsAt(response: Buffer, text: string, { from }: JsonSpan): KeptItem[] {
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
const stringAt = (bytes: Buffer, { from, to }: JsonSpan): string | undefined =>
  bytes[from] === QUOTE ? unquoted(bytes.toString('utf8', from, to)) : undefined;

const QUOTE = 0x22;

/** OpenAI finds no reasoning item that it has not stored: without its encrypted content it cannot be an input. */
export const isUnreadable = (item: unknown): boolean =>
  isObject(item) && item['type'] === 'reasoning' && typeof item['encrypted_content'] !== 'string';
