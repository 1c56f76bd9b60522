import type { Format } from '../formats/format.ts';
import type { FieldTable } from '../formats/fields/field-table.ts';
import type { RequestBody } from './request-body.ts';

/** What a model can be asked for. */
export type ModelTask = 'generate' | 'count_tokens' | 'embeddings' | 'images';

/** One operation of the API: what arrives at one method and path. */
export interface Operation {
  /** `chat.completions` */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** A template (RFC 6570): `{name}` stands for one segment, `{+name}` for several with the slashes between them. */
  readonly path: string;
  /** Lower-case name of a header: only a request that has it is this operation, and not the other one at the same path. */
  readonly header?: string;
  /** What it asks of a model; undefined where it asks the gateway itself. */
  readonly task: ModelTask | undefined;
  /** Name in OpenTelemetry's list: `chat`. */
  readonly semconvName: string;
  /** The client's side: its bodies, its streams, its error shape. */
  readonly format: Format;
  /** The names of its body's fields. */
  readonly fields?: FieldTable;
  /** Checks a parsed body. Undefined when it is fine, else what is wrong and where. */
  validate(body: unknown): BodyFault | undefined;
  /**
   * Fields that other operations have in their body and this one in its path. They are put into the body, where routing, overrides
   * and access look for them. Throws GatewayError for what cannot be used or contradicts the body.
   */
  readonly fieldsInPath?: (params: PathParams, body: RequestBody) => Readonly<Record<string, unknown>>;
}

/** Parts of a path by their names in the operation's template, percent-decoded. */
export type PathParams = Readonly<Partial<Record<string, string>>>;

export interface BodyFault {
  readonly message: string;
  readonly param: string | null;
  /** The fault is that `param` is not there. */
  readonly missing: boolean;
}
