import type { InboundRequest as PublicInboundRequest } from '../../plugin/request.ts';
import type { RequestBody } from './body/request-body.ts';
import type { InboundForm } from './forms/inbound-form.ts';
import type { Operation } from './operation.ts';
import type { RequestHead } from './request-head.ts';

/** The certificate of a client's connection, where `tls.client_ca` asks for one. */
export interface ClientCertificate {
  /** The common name and the names of subjectAltName, each with its kind: `CN:`, `DNS:`, `URI:`, `email:`, `IP Address:`. */
  readonly names: ReadonlySet<string>;
  /** Why it was not accepted; undefined: one of the authorities of `tls.client_ca` has signed it. */
  readonly problem: string | undefined;
}

export interface InboundRequest extends PublicInboundRequest {
  readonly head: Readonly<RequestHead>;
  /** Undefined: the client sent none, or the gateway asks for none. */
  readonly clientCertificate?: ClientCertificate | undefined;
  body: RequestBody | undefined;
  /** The multipart form of a request to a model; `body` has its text fields. Set by the `body` plugin. */
  form?: InboundForm | undefined;
  /** Size of the received body in bytes. */
  bodyBytes: number;
  /** The body has passed the operation's whole schema. */
  bodyValidated: boolean;
  /** Full name of that header as this request writes it, for error messages. */
  headerName(name: string): string;
}

/** The part of a request that the conditions of a gateway config read. */
export interface ConditionInput {
  readonly operation: Pick<Operation, 'id'> | undefined;
  readonly request: Pick<InboundRequest, 'path' | 'headers' | 'body'>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A value of a request that a condition compared, and that is no text of a message. */
export interface ComparedValue {
  readonly field: string;
  /** Null: the request has none. */
  readonly found: string | number | boolean | null;
}
