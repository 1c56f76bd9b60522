import type { NativeForm } from '../../formats/task-forms.ts';
import type { CatalogEntry } from '../../../schemas/types.generated.ts';
import type { FormatName, Loss } from '../../formats/conversation.ts';
import type { ModelTask, Secret } from '../../plugin/index.ts';
import type { Codec } from './codec.ts';
import type { UpstreamFailure } from '../../formats/events.ts';

/** The caller's own upstream credential: the value of `Authorization` when it is not a gateway key. */
export interface UpstreamCaller {
  readonly upstreamToken: Secret | undefined;
}

export interface ModelCall {
  readonly task: ModelTask;
  readonly stream: boolean;
  /** The client's format, and whether the request has tools: given to entries that locate by them (`locatesByClient`). */
  readonly client?: FormatName | undefined;
  readonly tools?: boolean | undefined;
  /** See `Operation`. */
  readonly compacts?: true | undefined;
  /** The form of the client's body, where its API is not OpenAI's. */
  readonly form?: NativeForm | undefined;
}

/** The address of a model. Built per request from parts that were checked at load; the model name is encoded. */
export interface Location {
  /** `https://host[:port]` */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** The API format there; for a task with a codec, the format of its errors. */
  readonly format: FormatName;
  /** Why this format and not the entry's usual one: explain shows it. */
  readonly formatReason?: string;
  /** The upstream's model name, written into the body where the format has it there. */
  readonly model: string;
  readonly host: 'vertex' | 'direct';
  /** Headers of the provider other than credentials. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** False: the server refuses requests for usage on a stream (see `RequestTarget`). */
  readonly streamUsage?: boolean;
  /** The host expects the model in the body all the same (docs/protocols/vertex-ai.md#claude-token-count). */
  readonly modelInBody?: boolean;
  /** The fields beyond the API of the format's vendor that the server takes (see `RequestTarget`). */
  readonly extensions?: ReadonlySet<string>;
  /** True: the server takes free-text tools (see `RequestTarget`). */
  readonly customTools?: boolean;
  /** True: the server may have responses, items and conversations that the gateway does not keep (see `withoutUnknownIds`). */
  readonly takesUnknownIds?: boolean;
  /** True: Claude takes schemas of answers and strict tools here (see `RequestTarget`). */
  readonly structuredOutputs?: boolean;
  /** Names the account where it accepts only its own signatures (see `RequestTarget`). */
  readonly signatureScope?: string;
  /** The codec, for embeddings and images. */
  readonly codec?: Codec;
  readonly quirks?: Quirks;
}

/** One catalog entry, compiled by its provider at load. */
export interface ProviderEntry {
  readonly slug: string;
  readonly provider: ProviderName;
  /** Name in OpenTelemetry's list: `gcp.vertex_ai`, `anthropic`, `openai`. */
  readonly semconvName: string;
  readonly allowInsecure: boolean;
  readonly chosenByCaller?: boolean;
  /** The request itself names the upstream: the outcome does not count for the health of any target. */
  readonly adHoc?: boolean;
  /** Models that the provider has under all circumstances, for the list of models. */
  readonly ownModels?: readonly string[];
  /** Throws GatewayError `invalid_model` or `unsupported_task`. @param model the caller's name, without `@slug/` */
  locate(model: string, call: ModelCall): Location;
  /** True: `locate` reads `client` and `tools` of a call. */
  readonly locatesByClient?: boolean;
  /** Changes (by identity) when `locate` may return another result for equal arguments. Default: never. */
  locatesBy?(): object | undefined;
  /** Credential headers. Throws GatewayError `credentials_failed` or `upstream_credentials_required`; never an empty bearer. */
  authorize(caller: UpstreamCaller): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** The cheapest call that fails without valid credentials, for `gatehouse doctor --probe`. Nothing is billed for it. */
  readonly proof?: ProofCall;
  /** The key of the entry's access tokens in the token store; undefined where it has none. */
  readonly tokenKey?: string | undefined;
  /** `authorize` returns the caller's own token. */
  readonly usesCallersToken?: boolean;
  /** Called when the upstream answered 401 to these headers. True: `authorize` can return different ones. */
  forgetCredentials?(refused: Readonly<Record<string, string>>): boolean;
}

/** A GET; with a body, a POST of JSON. */
export interface ProofCall extends Pick<Location, 'origin' | 'path' | 'headers'> {
  readonly body?: string;
  /** The server may answer without credentials, too: then the call proves nothing. */
  readonly mayBePublic?: boolean;
}

/** The schema of the catalog has the names. */
export type ProviderName = CatalogEntry['provider'];

/** Deviations of one API from its format: pure functions on the encoded request and the undecoded reply. */
export interface Quirks {
  /** True for a feature of the format (`ModelFeatures`) that the API accepts by this name; others are removed and reported. */
  readonly takesFeature?: (name: string) => boolean;
  /** Features that the API takes under another name, which is tried before the feature is removed. */
  readonly featureNames?: ReadonlyMap<string, string>;
  readonly envelope?: BodyEnvelope;
  /** A larger request is refused before any of it is sent, because the upstream would refuse it after the upload. */
  readonly bodyLimit?: BodyLimit;
  /** Adds advice for the operator to a failure of the upstream. */
  readonly explain?: (failure: UpstreamFailure) => UpstreamFailure;
}

export interface BodyLimit {
  readonly bytes: number;
  /** The owner of the limit, with the limit in its documentation's words, for the message. */
  readonly words: string;
}

export interface BodyEnvelope {
  /** @param body JSON of the format */
  wrap(body: Buffer, stream: boolean): { readonly body: Buffer; readonly losses: readonly Loss[] };
  /** @param bytes the complete reply. Throws ReplyFault. */
  unwrap(bytes: Buffer): Buffer;
}
