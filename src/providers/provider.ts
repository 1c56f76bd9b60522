import type { CatalogEntry } from '../../schemas/types.generated.ts';
import type { FormatName } from '../formats/conversation.ts';
import type { ModelTask, Secret } from '../plugin/index.ts';
import type { Codec } from './codec.ts';
import type { Quirks } from './quirks.ts';

/** The caller's side of an upstream credential: what `Authorization` held when it was not a gateway key. */
export interface UpstreamCaller {
  readonly upstreamToken: Secret | undefined;
}

/** What is asked of a model. */
export interface ModelCall {
  readonly task: ModelTask;
  readonly stream: boolean;
}

/** Where a model lives. Built per request from parts that were checked at load; every model name is encoded. */
export interface Location {
  /** `https://host[:port]` */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Spoken there; of a task with a codec, the one its errors are written in. */
  readonly format: FormatName;
  /** Model name the upstream knows; goes into the body where the format has it there. */
  readonly model: string;
  readonly host: 'vertex' | 'direct';
  /** Headers of the provider that are no credentials. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** False: the server refuses to be asked for usage on a stream (`RequestTarget` says more). */
  readonly streamUsage?: boolean;
  /**
   * True: the host names the model in the body, against the rule of the format there (docs/protocols/vertex-ai.md#claude-token-count).
   */
  readonly modelInBody?: boolean;
  /** For embeddings and images: how they are asked for. */
  readonly codec?: Codec;
  readonly quirks?: Quirks;
}

/** One catalog entry, ready for use: what its provider made of the YAML at load. */
export interface ProviderEntry {
  readonly slug: string;
  readonly provider: ProviderName;
  /** Name in OpenTelemetry's list: `gcp.vertex_ai`, `anthropic`, `openai`. */
  readonly semconvName: string;
  readonly allowInsecure: boolean;
  /** The caller chose its host. */
  readonly chosenByCaller?: boolean;
  /** The request itself names the place: what becomes of it there says nothing of any target. */
  readonly adHoc?: boolean;
  /**
   * @param model name as the caller gave it, without `@slug/`
   * Throws GatewayError `invalid_model` for a name that cannot be used here, `unsupported_task` for what the model cannot be asked.
   */
  locate(model: string, call: ModelCall): Location;
  /** Credential headers. Throws GatewayError `credentials_failed` or `upstream_credentials_required`; never an empty bearer. */
  authorize(caller: UpstreamCaller): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Under which the entry's access tokens are kept; undefined where it has none. */
  readonly tokenKey?: string | undefined;
  /** The caller's own token is what `authorize` sends. */
  readonly usesCallersToken?: boolean;
  /** The upstream answered 401 to these headers. True: `authorize` can be asked for other ones. */
  forgetCredentials?(refused: Readonly<Record<string, string>>): boolean;
}

/** The schema of the catalog has the names. */
export type ProviderName = CatalogEntry['provider'];
