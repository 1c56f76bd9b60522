import type { JsonSpan } from '../../formats/json/members.ts';
import { isObject } from '../../formats/json/object.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operation.ts';
import type { RequestBody } from './body/request-body.ts';

/** A response of the Responses API that the gateway keeps, as bytes: most are never read again. */
export interface KeptResponse {
  readonly id: string;
  /** The response as the client received it. */
  readonly response: Buffer;
  /** `input` of its request as a list of items, after the input and output of the responses that it continues. */
  readonly input: Buffer;
}

/** A response to be kept. */
export interface NewResponse extends KeptResponse {
  /**
   * The output items that have ids. Undefined: the gateway has written the response, so its items are in the family of its id, and a
   * look-up reads the response. An upstream can give any number of responses ids of one family.
   */
  readonly items: readonly KeptItem[] | undefined;
}

/** An output item, and its place in the response. */
export interface KeptItem extends JsonSpan {
  readonly id: string;
}

/** The kept responses that a request names, by ids. */
export interface KeptNames {
  readonly response?: string | undefined;
  readonly items: readonly string[];
}

/** A value where this process keeps the responses; a promise where the primary does. */
export type MaybePromise<T> = T | Promise<T>;

/** The kept responses. A key finds only its own; all others look unknown. Rejects with `store_unavailable`. */
export interface ResponseService {
  /** Maximum size of one response with its input; 0: none is kept. */
  readonly maxBytes: number;
  /** The most bytes that these responses, with input, and items have: a request is charged before it reads them. */
  measure(exchange: Exchange, names: KeptNames): MaybePromise<number>;
  find(exchange: Exchange, id: string): MaybePromise<KeptResponse | undefined>;
  /** The texts of output items by their ids. Ids without an item are missing. */
  findItems(exchange: Exchange, ids: readonly string[]): MaybePromise<ReadonlyMap<string, string>>;
  /** Keeps a response, if there is room. Never rejects. */
  keep(exchange: Exchange, kept: NewResponse): MaybePromise<void>;
  /** False: the key had none. */
  remove(exchange: Exchange, id: string): MaybePromise<boolean>;
}

/** An item of an input that names a stored one. Its type may be null or absent (docs/protocols/openai-responses.md#items). */
export const isReference = (item: unknown): item is { readonly id: string } =>
  isObject(item) &&
  typeof item['id'] === 'string' &&
  (item['type'] === 'item_reference' || (typeof item['type'] !== 'string' && typeof item['role'] !== 'string'));

/** Whether the input of a body as it will be sent names stored items. */
export function hasReferences({ hasReferences: test }: Operation, body: RequestBody): boolean {
  if (!test) return false;
  if (body.edits.some(({ path }) => path[0] === 'input')) return test({ input: body.value('input') });
  return (body.hasReferences ??= test(body.abridged()));
}
