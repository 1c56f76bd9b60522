import {
  GatewayError,
  isObject,
  type Exchange,
  type Found,
  type KeptResponse,
  type RequestBody,
  type ResponseService,
} from '../../src/plugin/index.ts';

/** A whole `input`, for a request that names parts of it. */
export interface WholeInput {
  /** Its items as JSON texts, each of one item or of several between commas. */
  readonly texts: readonly string[];
  /** Length of the texts together. They are not joined yet: a request may name a long item very often. */
  readonly length: number;
  /** Id of the response that the request continues. */
  readonly continues: string | undefined;
  /** Number of references that items replace. */
  readonly references: number;
}

export type Item = Readonly<Record<string, unknown>>;

const REFERENCE = 'item_reference';

/** Whether a body may name a kept response or item. Searches the bytes, because parsing each body would cost more. */
export const namesKept = (body: RequestBody): boolean =>
  typeof body.value('previous_response_id') === 'string' || body.original.includes(REFERENCE);

/**
 * The conversation of a request: the input and the output of the response that it continues, then its own input with items in place
 * of references. Undefined when the gateway keeps nothing under the ids in it: an upstream of the same API may. `instructions` are not
 * inherited (docs/protocols/openai-responses.md#kept-responses). Throws GatewayError for an id of another key.
 */
export async function wholeInput(
  exchange: Exchange,
  body: RequestBody,
  service: ResponseService,
): Promise<WholeInput | undefined> {
  const named = body.string('previous_response_id');
  const before =
    named === undefined ? undefined : owned(await service.find(exchange, named), () => unknownBefore(named));
  const own = await resolved(exchange, body, service);
  if (!before && own.references === 0) return undefined;
  const earlier = before ? [listed(before.input), ...before.output.map(({ text }) => text)] : [];
  const texts = [...earlier, ...own.texts].filter((text) => text !== '');
  return {
    texts,
    length: texts.reduce((length, text) => length + text.length + 1, 1),
    continues: before && named,
    references: own.references,
  };
}

/** The items of a request's own input as JSON texts. */
async function resolved(
  exchange: Exchange,
  body: RequestBody,
  service: ResponseService,
): Promise<Pick<WholeInput, 'texts' | 'references'>> {
  const text = inputText(body);
  if (!text.includes(REFERENCE)) return { texts: [listed(text)], references: 0 };
  const items = JSON.parse(text) as readonly unknown[];
  const ids = items.flatMap((item) => referenceOf(item) ?? []);
  if (ids.length === 0) return { texts: [listed(text)], references: 0 };
  const found = await service.findItems(exchange, [...new Set(ids)]);
  let references = 0;
  const texts = items.map((item, at) => {
    const id = referenceOf(item);
    const kept = id === undefined ? undefined : owned(found.get(id), () => unknownItem(id, at));
    if (kept === undefined) return JSON.stringify(item);
    references += 1;
    return kept;
  });
  return { texts, references };
}

/** `input` as the JSON text of a list: a text stands for a message of the user. */
export function inputText(body: RequestBody): string {
  if (!body.has('input')) return '[]';
  const text = body.bytesOf('input').toString('utf8');
  if (text.startsWith('[')) return text;
  return text.startsWith('"')
    ? `[{"type":"message","role":"user","content":[{"type":"input_text","text":${text}}]}]`
    : '[]';
}

const listed = (list: string): string => list.slice(1, -1).trim();

function referenceOf(item: unknown): string | undefined {
  return isObject(item) && item['type'] === REFERENCE && typeof item['id'] === 'string' ? item['id'] : undefined;
}

function owned<T extends KeptResponse | string>(found: Found<T>, refusal: () => GatewayError): T | undefined {
  if (found === 'foreign') throw refusal();
  return found;
}

/** In OpenAI's words, without a sign whether another key has it. */
const unknownBefore = (id: string): GatewayError =>
  new GatewayError(
    'previous_response_not_found',
    `Previous response with id '${id.slice(0, 100)}' not found. Send the whole \`input\`.`,
    { param: 'previous_response_id' },
  );

const unknownItem = (id: string, at: number): GatewayError =>
  new GatewayError('invalid_value', `Item with id '${id.slice(0, 100)}' not found.`, { param: `input[${at}].id` });
