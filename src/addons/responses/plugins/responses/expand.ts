import { GatewayError } from '../../../../plugin/index.ts';
import {
  hasReferences,
  isObject,
  isReference,
  type Exchange,
  type KeptResponse,
  type Operation,
  type RequestBody,
  type ResponseService,
  type Turns,
} from '../../../../core/kernel/index.ts';
import { isKeptByVendor, isOwnId, isUnreadable, outputOf } from '../../store/response-places.ts';

/** A whole `input`, for a request that names parts of it. */
export interface WholeInput {
  /** Its items as JSON, each of one item or of several between commas. */
  readonly texts: readonly (string | Buffer)[];
  /** Length of the texts together. They are not joined yet: a request may name a long item very often. */
  readonly length: number;
  /** Id of the response that the request continues. */
  readonly continues: string | undefined;
  /** Number of references that items replace. */
  readonly references: number;
  /** Reasoning without encrypted content was left out. */
  readonly unreadable: boolean;
}

/** Whether a body may name a kept response or item. */
export const namesKept = (operation: Operation, body: RequestBody): boolean =>
  typeof body.value('previous_response_id') === 'string' || hasReferences(operation, body);

/** The request whose input may name kept responses and items. */
export interface ExpandedRequest {
  readonly exchange: Exchange;
  readonly operation: Operation;
  readonly body: RequestBody;
}

/**
 * The conversation of a request: the input and the output of the response that it continues, then its own input with items in place
 * of references. Undefined when the gateway keeps nothing for the key under the ids in it: an upstream of the same API may, and the
 * target's API decides about unknown ids (src/core/translate/unknown-ids.ts). `instructions` are not inherited
 * (docs/protocols/openai-responses.md#kept-responses).
 */
export async function wholeInput(
  asking: ExpandedRequest,
  service: ResponseService,
  { turns, charge }: { readonly turns: Turns; readonly charge: Charge },
): Promise<WholeInput | undefined> {
  const { exchange, body } = asking;
  const named = body.string('previous_response_id');
  const naming = hasReferences(asking.operation, body)
    ? await inTurn(asking, turns, () => namingOf(body))
    : NOTHING_NAMED;
  // A small request may name much: the bytes are charged before they are read.
  const bytes = await service.measure(exchange, { response: named, items: naming.ids });
  charge(bytes);
  const before = named === undefined ? undefined : await service.find(exchange, named);
  const own =
    naming.ids.length > 0
      ? await resolved(asking, { ...naming, bytes }, { service, turns })
      : { texts: [await inTurn(asking, turns, () => insideOf(inputList(body)))], references: 0, unreadable: false };
  if (!before && own.references === 0) return undefined;
  const earlier = before ? await earlierItems(before, exchange, turns) : { texts: [], unreadable: false };
  const texts = [...earlier.texts, ...own.texts].filter((text) => text.length > 0);
  return {
    texts,
    length: texts.reduce((length, text) => length + text.length + 1, 1),
    continues: before && named,
    references: own.references,
    unreadable: earlier.unreadable || own.unreadable,
  };
}

/** The input and the output of the response that a request continues. */
async function earlierItems(
  { input, response }: KeptResponse,
  exchange: Exchange,
  turns: Turns,
): Promise<Pick<WholeInput, 'texts' | 'unreadable'>> {
  const output = await readable(response, exchange, turns);
  return { texts: [insideOf(input), output.text], unreadable: output.unreadable };
}

interface Readable {
  readonly text: Buffer | string;
  readonly unreadable: boolean;
}

/**
 * The output items of a response that an upstream can read. A vendor that keeps the response finds its reasoning by the id. Other items
 * lose their ids beside reasoning that is left out: OpenAI demands the reasoning of an item whose id it knows
 * (docs/protocols/openai-responses.md#kept-responses).
 */
function readable(response: Buffer, exchange: Exchange, turns: Turns): Readable | Promise<Readable> {
  const output = outputOf(response);
  if (!output.includes(REASONING) || isKeptByVendor(response)) return { text: insideOf(output), unreadable: false };
  const filter = (): Readable => {
    const items = JSON.parse(output.toString('utf8')) as readonly unknown[];
    const kept = items.filter((item) => !isUnreadable(item));
    if (kept.length === items.length) return { text: insideOf(output), unreadable: false };
    return { text: kept.map(withoutId).join(','), unreadable: true };
  };
  const filtered = (): Readable => inDepth(filter);
  return turns.isHeavy(output.length) ? turns.run(exchange, filtered) : filtered();
}

/** V8 parses what nests too deep to be written again: some thousand levels, where a body has at most 512 (`limits.json_depth`). */
function inDepth<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GatewayError(
      'body_too_deep',
      'An item of the conversation nests deeper than a body may (limits.json_depth).',
    );
  }
}

const REASONING = '"reasoning"';

const withoutId = (item: unknown): string => JSON.stringify(isObject(item) ? { ...item, id: undefined } : item);

/** Charges a request for the kept bytes that it will read. Throws GatewayError. */
export type Charge = (bytes: number) => void;

/** Work on the bytes of a request, and on kept bytes that it reads. */
const inTurn = <T>(
  { exchange, body }: Pick<ExpandedRequest, 'exchange' | 'body'>,
  turns: Turns,
  work: () => T,
  bytes = 0,
): T | Promise<T> => (turns.isHeavy(body.original.length + bytes) ? turns.run(exchange, work) : work());

/** The items of an input, and the ids that it names. */
interface Naming {
  readonly items: readonly unknown[];
  readonly ids: readonly string[];
}

const NOTHING_NAMED: Naming = { items: [], ids: [] };

function namingOf(body: RequestBody): Naming {
  const items = JSON.parse(body.bytesOf('input').toString('utf8')) as readonly unknown[];
  return { items, ids: [...new Set(items.flatMap((item) => (isReference(item) ? [item.id] : [])))] };
}

async function resolved(
  asking: ExpandedRequest,
  { items, ids, bytes }: Naming & { readonly bytes: number },
  { service, turns }: { readonly service: ResponseService; readonly turns: Turns },
): Promise<Pick<WholeInput, 'texts' | 'references' | 'unreadable'>> {
  const found = await inTurn(asking, turns, () => service.findItems(asking.exchange, ids), bytes);
  return inTurn(asking, turns, () => {
    let references = 0;
    // A request may name a long item very often, so each is read once.
    const kept = new Map<string, string>();
    for (const item of items) {
      if (!isReference(item)) continue;
      const text = found.get(item.id);
      if (text === undefined) continue;
      references += 1;
      kept.set(item.id, text);
    }
    const unreadable = inDepth(() => leaveOutUnreadable(kept));
    const texts = items.map((item) => (isReference(item) ? kept.get(item.id) : undefined) ?? JSON.stringify(item));
    return { texts, references, unreadable };
  });
}

/** Removes unreadable reasoning of the gateway, whose items no vendor keeps. True if some was removed. */
function leaveOutUnreadable(kept: Map<string, string>): boolean {
  const ids = [...kept].flatMap(([id, text]) =>
    isOwnId(id) && text.includes(REASONING) && isUnreadable(JSON.parse(text)) ? [id] : [],
  );
  if (ids.length === 0) return false;
  for (const [id, text] of kept) kept.set(id, withoutId(JSON.parse(text)));
  for (const id of ids) kept.set(id, '');
  return true;
}

/** `input` as a JSON list: a text stands for a message of the user. */
export function inputList(body: RequestBody): Buffer {
  const input = body.has('input') ? body.bytesOf('input') : EMPTY_LIST;
  if (input[0] === OPEN_LIST) return input;
  return input[0] === QUOTE ? Buffer.concat([BEFORE_TEXT, input, AFTER_TEXT]) : EMPTY_LIST;
}

const [OPEN_LIST, QUOTE, SPACE] = [0x5b, 0x22, 0x20];
const EMPTY_LIST = Buffer.from('[]');
const BEFORE_TEXT = Buffer.from('[{"type":"message","role":"user","content":[{"type":"input_text","text":');
const AFTER_TEXT = Buffer.from('}]}]');

function insideOf(list: Buffer): Buffer {
  let [from, to] = [1, list.length - 1];
  while (from < to && list[from]! <= SPACE) from += 1;
  while (to > from && list[to - 1]! <= SPACE) to -= 1;
  return list.subarray(from, to);
}
