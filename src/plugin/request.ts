import type { IncomingHttpHeaders } from 'node:http';
import type { ParameterApi } from '../formats/fields/field-table.ts';

/** The tasks of a model. */
export type ModelTask =
  | 'generate'
  | 'count_tokens'
  | 'embeddings'
  | 'images'
  | 'completions'
  | 'moderations'
  | 'speech'
  | 'transcriptions'
  | 'translations'
  | 'image_edits'
  | 'image_variations';

/** One operation of the API: a method and a path. */
export interface Operation {
  /** `chat.completions` */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * A template (RFC 6570): `{name}` stands for one segment, `{+name}` for several with the slashes between them. Beyond the
   * RFC, `{name:v1|v2}` stands for one of these texts.
   */
  readonly path: string;
  /** The model's task; undefined for an operation that the gateway answers itself. */
  readonly task: ModelTask | undefined;
}

/** One HTTP request as its client sent it. */
export interface InboundRequest {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  /** Path segments by their names in the operation's template, percent-decoded. */
  readonly params: Readonly<Partial<Record<string, string>>>;
  readonly headers: IncomingHttpHeaders;
  /**
   * Client address: the peer of the connection, or the address that `trusted_proxies` report; `unknown` when they
   * report none.
   */
  readonly remoteAddress: string;
  /** Set by the `body` plugin; released when a reply is committed. */
  body: RequestBody | undefined;
  /** Value of a gateway header, by its name without the prefix: `header('config')` reads `x-gateway-config`. */
  header(name: string): string | undefined;
}

/** One change to a JSON object: sets the value at a path, or deletes the field when `value` is undefined. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
  /** Origin of the edit, for explain: `configs/gateway/prod.yaml override_params`. */
  readonly source: string;
  /** The field is a parameter of a config, written for this API: the translator takes it out of the body and writes it for the target. */
  readonly of?: ParameterApi | undefined;
}

/**
 * A request body as bytes and a list of edits, never a deep clone. Plugins edit by path, and unedited bytes are sent as
 * the caller wrote them. External plugins get all that `value` and `json` return frozen.
 */
export interface RequestBody {
  /** The caller's bytes. */
  readonly original: Buffer;
  readonly edits: readonly Edit[];
  /** A top-level string as it will be sent, without parsing the body. */
  string(key: string): string | undefined;
  /** A top-level value as it will be sent. Parses only that value unless the body is already parsed. */
  value(key: string): unknown;
  has(key: string): boolean;
  /** The top-level keys as they will be sent, without parsing any value that no edit touches. */
  keys(): string[];
  /** The body as it will be sent, parsed. */
  json(): Readonly<Record<string, unknown>>;
  /** Returns a new view with more edits; this one does not change. */
  edit(edits: readonly Edit[]): RequestBody;
  /**
   * Feeds a hash with the body's content except the top-level keys in `omit`, independent of the order of top-level
   * keys. Different bodies have different inputs.
   */
  fingerprint(hash: { update(data: Buffer | string): unknown }, omit: ReadonlySet<string>): void;
}
