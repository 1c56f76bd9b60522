import type { Format } from '../../../formats/format.ts';
import type { GatewayError } from '../../../plugin/index.ts';
import type { Operation, PathParams } from '../../kernel/index.ts';

/** The router's reading of a request's head. */
export interface Routed {
  /** Undefined: no operation has this path and method. */
  readonly operation: Operation | undefined;
  readonly params: PathParams;
  /** The client's format: the operation's, or a guess from the path if there is no operation. */
  readonly format: Format;
  /** The router refuses the request with this error. */
  readonly refusal?: GatewayError;
}
