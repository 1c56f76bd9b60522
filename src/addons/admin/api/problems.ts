import type { StateFailureCode } from '../../../core/ports/failures.ts';

// Errors of the admin API: problem details (RFC 9457). Clients branch on `code`.

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Seconds for `retry-after`. */
  readonly retryAfter?: number;
  /** Meaning and remedy, for the documents. */
  readonly help: string;
}

/** The one table of the errors of the admin API. */
export const PROBLEMS = {
  invalid_query: {
    status: 400,
    title: 'Invalid query',
    help: 'A parameter of the query is unknown, has a wrong value, or occurs twice; the detail names it.',
  },
  unknown_key: {
    status: 400,
    title: 'Unknown key',
    help: '`key` of an explain request is not the id of a key.',
  },
  invalid_header: {
    status: 400,
    title: 'Invalid header',
    help: '`If-Match` or `Idempotency-Key` has no usable value, `Host` or `Authorization` occurs twice, or a transfer coding is not `chunked`.',
  },
  invalid_json: { status: 400, title: 'Invalid JSON', help: 'The body is not one JSON object.' },
  unauthorized: {
    status: 401,
    title: 'No valid token',
    help: 'Send a token of the API, or `admin.token`, as `Authorization: Bearer`.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    help: 'The role, the scopes or the networks of the token do not allow the call.',
  },
  foreign_page: {
    status: 403,
    title: 'A page of another origin',
    help: 'A browser sent the call for a page of another origin. Only programs and pages of this listener may call.',
  },
  insecure_session: {
    status: 403,
    title: 'The connection is not secure',
    help: 'A session over plain HTTP takes a loopback address, or `admin.public_url` with https.',
  },
  not_found: { status: 404, title: 'Not found', help: 'There is no such object or path.' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    help: 'The path has other methods; `allow` names them.',
  },
  exists: { status: 409, title: 'The id is taken', help: 'An object with this id exists.' },
  id_gone: {
    status: 409,
    title: 'The id was deleted',
    help: 'An object with this id was deleted. Ids are not given again.',
  },
  in_use: {
    status: 409,
    title: 'The object is in use',
    help: 'Other objects name this one; the detail has some of them. Change them first.',
  },
  cannot_seal: {
    status: 409,
    title: 'The store cannot seal secrets',
    help: 'Secrets are sealed with `state.encryption_keys`, which server.yaml does not have or which are others than those of the object.',
  },
  cannot_patch: {
    status: 409,
    title: 'The file cannot be patched',
    help: 'The list that would hold the entry is not written line by line: add the entry by hand.',
  },
  key_inactive: {
    status: 409,
    title: 'The key is not active',
    help: 'A request of the playground needs a key that is not expired, disabled or revoked.',
  },
  key_revoked: {
    status: 409,
    title: 'The key is revoked',
    help: 'A revoked key gets no new secret. Create another key.',
  },
  not_owned: {
    status: 409,
    title: 'The store does not own this kind',
    help: '`state.owns` in server.yaml does not list the kind: its objects are in files.',
  },
  no_store: {
    status: 409,
    title: 'No state store',
    help: 'server.yaml has no `state`: the API shows the objects of files and writes nothing.',
  },
  owned_by_files: {
    status: 409,
    title: 'The object is in a file',
    help: 'A settings file holds the object. Change it there; the detail has file and line.',
  },
  replay_in_progress: {
    status: 409,
    title: 'The same call is under way',
    retryAfter: 1,
    help: 'A call with this `Idempotency-Key` has not ended.',
  },
  store_full: {
    status: 409,
    title: 'The store is full',
    help: 'A bound of the store is reached; the detail names it.',
  },
  part_of_object: {
    status: 409,
    title: 'The budget is a part of another object',
    help: 'The `spec.budgets` of an organization, a team or a key has the budget: change that object. The detail names it.',
  },
  precondition_failed: {
    status: 412,
    title: 'The object has changed',
    help: '`If-Match` is not the ETag of the object. Read it again.',
  },
  too_large: {
    status: 413,
    title: 'The body is too large',
    help: 'A body has at most 128 KiB. An explain request has at most 1 MiB, and no more than `limits.body`.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    help: 'Send `Content-Type: application/json`, or `application/merge-patch+json` to a PATCH.',
  },
  unknown_host: { status: 421, title: 'Unknown host', help: 'The Host is not one of `admin.host` and `admin.hosts`.' },
  invalid_body: {
    status: 422,
    title: 'Invalid body',
    help: 'A field is unknown, missing, or has a value that cannot be used; `errors` lists them.',
  },
  settings_refused: {
    status: 422,
    title: 'The settings are refused',
    help: 'The settings with this object have the mistakes in `errors`. Nothing was written, and the settings before serve.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'Another call had this Idempotency-Key',
    help: 'The key was used with another method, path or body within 24 hours.',
  },
  precondition_required: {
    status: 428,
    title: 'If-Match is missing',
    help: 'A change of an object needs its ETag in `If-Match`.',
  },
  too_many_failures: {
    status: 429,
    title: 'Too many wrong tokens',
    retryAfter: 60,
    help: 'The address has sent 10 wrong tokens within a minute.',
  },
  internal_error: { status: 500, title: 'Internal error', help: 'The gateway has a fault; the log has the reason.' },
  cannot_explain: {
    status: 500,
    title: 'The request cannot be explained',
    help: 'The settings in force are not valid any more, or a plugin does not end; the detail says which.',
  },
  too_many_tests: {
    status: 429,
    title: 'Too many tests',
    retryAfter: 60,
    help: '5 tests of entries a minute.',
  },
  busy: {
    status: 503,
    title: 'Too many calls',
    retryAfter: 1,
    help: 'The API answers 16 calls at a time, 4 of them explanations. Or a worker does not answer.',
  },
  store_unavailable: {
    status: 503,
    title: 'The state store does not answer',
    retryAfter: 5,
    help: 'Nothing was changed. Requests are served with what the gateway knows.',
  },
} as const satisfies Readonly<Record<string, ProblemKind>>;

export type ProblemCode = keyof typeof PROBLEMS;

export interface FieldError {
  /** JSON pointer into the body. */
  readonly pointer: string;
  readonly message: string;
}

export class ApiProblem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    {
      errors = [],
      headers = {},
    }: { readonly errors?: readonly FieldError[]; readonly headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = errors;
    this.headers = headers;
  }

  get kind(): ProblemKind {
    return PROBLEMS[this.code];
  }

  get body(): object {
    const { status, title } = this.kind;
    return {
      type: `urn:gatehouse:problem:${this.code}`,
      title,
      status,
      code: this.code,
      detail: this.message,
      ...(this.errors.length > 0 && { errors: this.errors }),
    };
  }
}

/** Refusals of the store as problems of the caller. Other failures are faults of the gateway. */
export const OF_STORE: Readonly<Partial<Record<StateFailureCode, ProblemCode>>> = {
  unavailable: 'store_unavailable',
  read_only: 'store_unavailable',
  damaged: 'store_unavailable',
  in_use: 'store_unavailable',
  conflict: 'precondition_failed',
  not_found: 'not_found',
  id_gone: 'id_gone',
  full: 'store_full',
  sealed: 'cannot_seal',
  invalid: 'invalid_body',
  not_allowed: 'forbidden',
};
