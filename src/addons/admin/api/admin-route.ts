import type { AnswerName } from './answer-schemas.ts';
import type { BodyName } from './body-schemas.ts';
import type { ParameterName } from './parameters.ts';
import type { Role } from './roles.ts';

/** One route of the admin API: the router, the OpenAPI document, the commands and the documents read it. */
export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/admin/v1`. `{id}` is one segment. */
  readonly path: string;
  readonly role: Role;
  readonly summary: string;
  readonly description?: string;
  readonly query?: readonly ParameterName[];
  readonly body?: BodyName;
  /** A change of an object: `If-Match` has its ETag. */
  readonly changes?: true;
  /** Undefined: no content. */
  readonly answer?: AnswerName;
  /** The answer is a page of such items. */
  readonly pages?: true;
  /** An explanation: it changes nothing, whatever its method, and takes time of the process that serves. */
  readonly explains?: true;
  /** It writes nothing, though it has a body. */
  readonly asks?: true;
  /** Its body may be as large as that of an explanation: it has texts of files. */
  readonly large?: true;
  /** It needs no token: it takes one. */
  readonly open?: true;
  /** The type of an answer that is sent piece by piece. */
  readonly streams?: string;
  /** Answers as CSV and JSON lines, too. */
  readonly exports?: true;
  readonly status: 200 | 201 | 204;
  /** It is answered while the state store does not answer, too. */
  readonly withoutStore?: true;
}
