import type { Exchange } from './exchange.ts';

/** A response of the Responses API that the gateway keeps. All texts are JSON. */
export interface KeptResponse {
  readonly id: string;
  /** The response without `output`. */
  readonly head: string;
  readonly output: readonly KeptItem[];
  /** `input` of its request as a list of items, after the input and output of the responses that it continues. */
  readonly input: string;
}

export interface KeptItem {
  readonly id: string | undefined;
  readonly text: string;
}

/** What is kept under an id; `foreign`: another key's, undefined: nothing. */
export type Found<T> = T | 'foreign' | undefined;

/** Without a promise where the process itself keeps the responses. */
export type Soon<T> = T | Promise<T>;

/** The kept responses, as the callers of requests may see them: each key finds its own. Rejects with `store_unavailable`. */
export interface ResponseService {
  /** Maximum size of one response with its input; 0: none is kept. */
  readonly maxBytes: number;
  find(exchange: Exchange, id: string): Soon<Found<KeptResponse>>;
  /** The texts of output items by their ids. */
  findItems(exchange: Exchange, ids: readonly string[]): Soon<ReadonlyMap<string, Found<string>>>;
  /** Keeps a response, if there is room. Never rejects. */
  keep(exchange: Exchange, kept: KeptResponse): Soon<void>;
  /** False: the key had none. */
  remove(exchange: Exchange, id: string): Soon<boolean>;
}
