import type { FieldTable } from '../../formats/fields/field-table.ts';
import type { Format } from '../../formats/format.ts';
import type { TaskForms } from '../../formats/task-forms.ts';
import type { GatewayError } from '../../plugin/errors.ts';
import type { Operation as PublicOperation } from '../../plugin/request.ts';
import type { RequestBody } from './body/request-body.ts';

export interface Operation extends PublicOperation {
  /** Lower-case name of a header: of two operations at one path, a request with it is this one. */
  readonly header?: string;
  /** A query parameter with its value, that tells two operations at one path apart as `header` does. */
  readonly query?: { readonly name: string; readonly value: string };
  /**
   * The body that a request brings. `json` is read into memory by the `body` plugin. `multipart` is a form: for a model
   * the `body` plugin reads its text fields; any other is read by the plugin that answers the operation, as it arrives. Default: `json` for POST, otherwise `none`.
   */
  readonly body?: 'json' | 'multipart' | 'none';
  /** The answer is a shorter form of the conversation, for which upstreams of the same API have a path of its own. */
  readonly compacts?: true;
  /** The provider whose own path this is: it serves requests that name no provider. */
  readonly provider?: string;
  /** Text that the path has before the name of a model, where its provider has the publisher in names. Aliases have no such prefix. */
  readonly modelPrefix?: string;
  /** The operation's name in OpenTelemetry's semantic conventions: `chat`. */
  readonly semconvName: string;
  /** The client's format: bodies, streams, error replies. */
  readonly format: Format;
  /** The fields of its body. */
  readonly fields?: FieldTable;
  /** The bodies of a task that is no conversation. Default: OpenAI's. */
  readonly taskForms?: TaskForms;
  /** True for a body whose input names stored items in place of some of its own (`isReference`). Reads no long text. */
  readonly hasReferences?: (body: Readonly<Record<string, unknown>>) => boolean;
  /** Validates a parsed body. Returns undefined when it is valid, else the first fault. */
  validate(body: unknown): BodyFault | undefined;
  /** Validates the body as received, where a plugin of the request chain writes the body for `validate`. */
  readonly validateReceived?: (body: unknown) => BodyFault | undefined;
  /** The error where the chain has no plugin that answers it. Default: `not_found`. */
  readonly unanswered?: () => GatewayError;
  /** The plugin of the request chain that answers the operation or writes its body. */
  readonly plugin?: string;
  /**
   * Fields that this operation has in its path and other operations in their body. They are merged into the body, where
   * routing, overrides and access checks read them. Throws GatewayError for an invalid value or one that contradicts
   * the body.
   */
  readonly fieldsInPath?: (params: PathParams, body: RequestBody) => Readonly<Record<string, unknown>>;
}

/** The kind of body that requests of this operation bring. */
export const bodyKind = ({ method, body }: Pick<Operation, 'method' | 'body'>): NonNullable<Operation['body']> =>
  body ?? (method === 'POST' ? 'json' : 'none');

/** Path segments by their names in the operation's template, percent-decoded. */
export type PathParams = Readonly<Partial<Record<string, string>>>;

export interface BodyFault {
  readonly message: string;
  readonly param: string | null;
  /** Whether the fault is that `param` is missing. */
  readonly missing: boolean;
}
