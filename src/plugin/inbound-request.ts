import type { IncomingHttpHeaders } from 'node:http';
import type { Operation, PathParams } from './operation.ts';
import type { RequestBody } from './request-body.ts';

/** One HTTP request as its client sent it. */
export interface InboundRequest {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly params: PathParams;
  readonly headers: IncomingHttpHeaders;
  /** Where it comes from: the peer of the connection, or what `trusted_proxies` say; `unknown` where they do not know. */
  readonly remoteAddress: string;
  /** Set by the `body` plugin, let go when a reply is committed. */
  body: RequestBody | undefined;
  /** Size of the body as it came. */
  bodyBytes: number;
  /** The body has passed the operation's whole schema, not only the types of its top-level keys. */
  bodyValidated: boolean;
  /** A gateway header by its name without prefix: `header('config')` reads `x-gateway-config`. */
  header(name: string): string | undefined;
  /** The same header's full name as this request wrote it, or would write it: what errors should say. */
  headerName(name: string): string;
}

/** The part of a request that the conditions of a gateway config read. */
export interface ConditionInput {
  readonly operation: Pick<Operation, 'id'> | undefined;
  readonly request: Pick<InboundRequest, 'path' | 'headers' | 'body'>;
  readonly metadata: Readonly<Record<string, string>>;
}
