import type { IncomingHttpHeaders } from 'node:http';
import type { InboundForm } from './inbound-form.ts';
import type { Operation, PathParams } from './operation.ts';
import type { RequestBody } from './request-body.ts';

/** The certificate of a client's connection, where `tls.client_ca` asks for one. */
export interface ClientCertificate {
  /** The common name and the names of subjectAltName, each with its kind: `CN:`, `DNS:`, `URI:`, `email:`, `IP Address:`. */
  readonly names: ReadonlySet<string>;
  /** Why it was not accepted; undefined: one of the authorities of `tls.client_ca` has signed it. */
  readonly problem: string | undefined;
}

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
  /** Undefined: the client sent none, or the gateway asks for none. */
  readonly clientCertificate?: ClientCertificate | undefined;
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
