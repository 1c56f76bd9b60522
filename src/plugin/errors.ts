import type { JsonObject } from '../formats/conversation.ts';
import { ERRORS, type ErrorCode, type ErrorType, type ErrorKind } from './error-codes.ts';

export interface ErrorDetails {
  /** Parameter of the client's body that caused the error. */
  readonly param?: string | null;
  /** Overrides the table's status; used only to keep an upstream's own status. */
  readonly status?: number;
  readonly cause?: unknown;
  /** Wait that the upstream requested, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Limits of the caller's own account at the upstream, as headers of the client's API. */
  readonly limitHeaders?: Readonly<Record<string, string>>;
  /** Whether the upstream advises a retry (`x-should-retry`, docs/protocols/openai-chat.md#retry-hints). */
  readonly shouldRetry?: boolean;
  /** Catalog slug of the target that failed. */
  readonly provider?: string;
  /** The upstream's own name for the failure, for clients that are not strict and for logs. */
  readonly upstreamKind?: string;
  /** The error arrived inside an event stream. */
  readonly inStream?: boolean;
  /** The upstream refused a token that the caller brought, so the refusal concerns this caller alone. */
  readonly toCallersToken?: boolean;
  /** Overrides `ErrorKind.ofGateway` for this error. */
  readonly ofGateway?: boolean;
  /** The external plugin at fault, by its name in the settings; for log and record, never for the client. */
  readonly plugin?: string | undefined;
  /** The upstream's own code, spelled like OpenAI's. The client gets it; metrics and logs keep the table's. */
  readonly upstreamCode?: string;
  /** The code of an error of a plugin's own, which the client gets; it has the code `plugin_refused`. */
  readonly ownCode?: string | undefined;
  /** The type of such an error. */
  readonly type?: ErrorType;
  /** For the record and the access line. */
  readonly upstreamReport?: UpstreamReport;
  /** Details of the upstream's error in Google's form, for clients of Google's API. */
  readonly upstreamDetails?: readonly JsonObject[];
  /** The gateway's own limit that refused the request. */
  readonly limit?: RefusedLimit;
  /** Name of the budget that refused the request: `team:search:month:usd`. */
  readonly budget?: string | undefined;
}

/** The unit that a limit counts. */
export type LimitKind = 'requests' | 'tokens' | 'concurrency';

/** An owner of limits: the nodes above a request's key, the catalog entry of its target, an address without a key. */
export type LimitedKind = 'organization' | 'team' | 'key' | 'entry' | 'address';

/** The limit that refused a request. */
export interface RefusedLimit {
  readonly limit: LimitKind;
  readonly node: LimitedKind;
  /** It depends on the target: another target may take the request. */
  readonly ofTarget: boolean;
}

/** An upstream's error in its own words, without the credentials that were sent to it. Not truncated. */
export interface UpstreamReport {
  /** Undefined where it may quote a part of a credential, as refusals of keys do. */
  readonly message?: string;
  readonly param?: string;
  readonly code?: string;
}

/** An `Error` to `instanceof`, to loggers and to `util.inspect`, except that `Error` captures a stack in each instance. */
class StacklessError {
  declare readonly stack?: string;
  declare readonly message: string;
  declare readonly cause?: unknown;

  constructor(message: string, cause: unknown) {
    Object.defineProperty(this, 'message', hidden(message));
    if (cause !== undefined) Object.defineProperty(this, 'cause', hidden(cause));
  }
}
Object.setPrototypeOf(StacklessError.prototype, Error.prototype);

/** A property as `Error` defines its own: spreads and JSON leave it out. */
const hidden = (value: unknown): PropertyDescriptor => ({ value, writable: true, configurable: true });

/** The only error that reaches clients unchanged; any other thrown value becomes `internal_error`. */
export class GatewayError extends StacklessError {
  /** Whether instances have a stack, which shows the code that created them. */
  protected static readonly hasStack: boolean = true;
  readonly name: string = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: ErrorType;
  readonly retryable: boolean;
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;
  readonly limitHeaders: Readonly<Record<string, string>> | undefined;
  readonly shouldRetry: boolean | undefined;
  readonly provider: string | undefined;
  readonly upstreamKind: string | undefined;
  readonly upstreamCode: string | undefined;
  readonly ownCode: string | undefined;
  readonly upstreamReport: UpstreamReport | undefined;
  readonly upstreamDetails: readonly JsonObject[] | undefined;
  readonly inStream: boolean;
  readonly toCallersToken: boolean;
  readonly ofGateway: boolean;
  readonly plugin: string | undefined;
  readonly limit: RefusedLimit | undefined;
  readonly budget: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause);
    if (new.target.hasStack) Error.captureStackTrace(this, new.target);
    const kind: ErrorKind = ERRORS[code];
    this.code = code;
    this.status = details.status ?? kind.seenAs ?? kind.status;
    this.type = details.type ?? kind.type;
    this.retryable = kind.retryable;
    this.param = details.param ?? null;
    this.retryAfterMs = details.retryAfterMs;
    this.limitHeaders = details.limitHeaders;
    this.shouldRetry = details.shouldRetry;
    this.provider = details.provider;
    this.upstreamKind = details.upstreamKind;
    this.upstreamCode = details.upstreamCode;
    this.ownCode = details.ownCode;
    this.upstreamReport = details.upstreamReport;
    this.upstreamDetails = details.upstreamDetails;
    this.inStream = details.inStream ?? false;
    this.toCallersToken = details.toCallersToken ?? false;
    this.ofGateway = details.ofGateway ?? kind.ofGateway ?? false;
    this.plugin = details.plugin;
    this.limit = details.limit;
    this.budget = details.budget;
  }

  /** Status of the reply to the client. */
  get clientStatus(): number {
    const { seenAs, status }: ErrorKind = ERRORS[this.code];
    return seenAs === undefined ? this.status : status;
  }

  /** Whether the same request would certainly be refused again. */
  get final(): boolean {
    const { final }: ErrorKind = ERRORS[this.code];
    return final ?? false;
  }
}

/**
 * Thrown by a plugin that provides `caller` for a request whose credential is of another method. The next plugin of the chain
 * that provides `caller` tries; where none is left, the client gets a 401 with the messages of all.
 */
export class NotMine extends GatewayError {
  override readonly name = 'NotMine';

  /** @param code `missing_api_key` where there is no credential at all */
  constructor(message: string, code: 'missing_api_key' | 'invalid_api_key' = 'invalid_api_key') {
    super(code, message);
  }
}

/**
 * The failure of an attempt at its upstream or on the way there. Retry and fallback decide by `status` and by this
 * class. It has no stack: it reports what an upstream did and no fault of the code, and a stack costs 19 µs (measured).
 */
export class UpstreamError extends GatewayError {
  protected static override readonly hasStack = false;
  override readonly name = 'UpstreamError';
}
