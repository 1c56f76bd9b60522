import type { ParamPath } from './losses/place.ts';

/** A request body that cannot be read or cannot be expressed in the target's format: a 400 that names the parameter. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
  readonly param: string | null;
  readonly code: RequestFaultCode;
  constructor(code: RequestFaultCode, message: string, param: ParamPath | null = null) {
    super(message);
    this.code = code;
    this.param = param === null ? null : String(param);
  }
}
type RequestFaultCode =
  | 'invalid_request'
  | 'missing_required_parameter'
  | 'unsupported_parameter'
  | 'invalid_value'
  | 'previous_response_not_found';

/** A reply that breaks its format (garbled JSON, a missing field without which nothing can be read). */
export class ReplyFault extends Error {
  override readonly name = 'ReplyFault';
}
