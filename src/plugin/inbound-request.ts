import type { IncomingHttpHeaders } from 'node:http';
import type { InboundForm } from './form/inbound-form.ts';
import type { Operation, PathParams } from './operation.ts';
import type { RequestBody } from './request-body.ts';

/** One HTTP request as its client sent it. */
export interface InboundRequest {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly params: PathParams;
  readonly headers: IncomingHttpHeaders;
  /**
   * Client address: the peer of the connection, or the address that `trusted_proxies` report; `unknown` when they
   * report none.
   */
  readonly remoteAddress: string;
  /** Set by the `body` plugin; released when a reply is committed. */
  body: RequestBody | undefined;
  /** The multipart form of a request to a model; `body` has its text fields. Set by the `body` plugin. */
  form?: InboundForm | undefined;
  /** Size of the received body in bytes. */
  bodyBytes: number;
  /** The body has passed the operation's whole schema. */
  bodyValidated: boolean;
  /** Value of a gateway header, by its name without the prefix: `header('config')` reads `x-gateway-config`. */
  header(name: string): string | undefined;
  /** Full name of that header as this request writes it, for error messages. */
  headerName(name: string): string;
}

/** The part of a request that the conditions of a gateway config read. */
export interface ConditionInput {
  readonly operation: Pick<Operation, 'id'> | undefined;
  readonly request: Pick<InboundRequest, 'path' | 'headers' | 'body'>;
  readonly metadata: Readonly<Record<string, string>>;
}
