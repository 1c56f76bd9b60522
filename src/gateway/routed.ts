import type { Format } from '../formats/format.ts';
import type { GatewayError, Operation, PathParams } from '../plugin/index.ts';

/** What the router has read of a request's head. */
export interface Routed {
  /** Undefined: no operation is at this path and method. */
  readonly operation: Operation | undefined;
  readonly params: PathParams;
  /** Spoken by the client: the operation's, or what it seems to be where there is none. */
  readonly format: Format;
  /** What it is refused with, whatever else it says. */
  readonly refusal?: GatewayError;
}
