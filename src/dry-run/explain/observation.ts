import type { FieldExplanation, FieldSource } from '../explanation/explanation.ts';
import type {
  Attempt,
  CachedReply,
  Exchange,
  FailureKind,
  GatewayConfig,
  GatewayError,
  Outbound,
  PluginWords,
  RequestBody,
  ResolvedTarget,
} from '../../plugin/index.ts';
import type { LoadResult, Settings } from '../../settings/read/load.ts';
import type { ServerSettings } from '../../settings/compile/server-settings.ts';
import type { OutboundRequest } from '../../upstream/types.ts';
import type { HeaderNames } from '../../gateway/header-names.ts';
import type { ListedPlugin } from '../../compose/chain-builder.ts';
import type { HealthThen } from './frozen-health.ts';
import type { ExplainQuestion } from './question.ts';

/** What was seen of one request's way through the chains. */
export interface Observation {
  readonly question: ExplainQuestion;
  readonly exchange: Exchange;
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly server: ServerSettings;
  readonly headerNames: HeaderNames;
  /** How the caller was found where the headers did not say it. */
  readonly supposedCaller: 'named' | 'nobody' | undefined;
  /** Plugins that were reached, in the order they were. */
  readonly steps: readonly PluginStep[];
  /** All plugins of the chains, as they are listed; the attempt chain once. */
  readonly listed: readonly ListedPlugin[];
  readonly attempts: readonly SeenAttempt[];
  readonly notes: readonly string[];
}

/** One plugin that a request came to. */
export interface PluginStep {
  readonly place: ListedPlugin;
  /** False: explain left it out. */
  readonly run: boolean;
  /** Of the attempt chain. */
  readonly attempt: Attempt | undefined;
  /** It has not come to its end. */
  running: boolean;
  words: PluginWords | undefined;
  /** What it threw; what a plugin behind it threw is told there. */
  refused: GatewayError | undefined;
}

/** One run of the attempt chain, up to what would leave. An attempt lets go of all this when it fails, so it is noted before. */
export interface SeenAttempt {
  readonly attempt: Attempt;
  readonly config: GatewayConfig;
  body: RequestBody;
  /** What `outbound` was made of: `body`, with the media in it that the gateway got for it. */
  written: RequestBody | undefined;
  resolved: ResolvedTarget | undefined;
  outbound: Outbound | undefined;
  /** As it would leave, credentials in its headers; several of a batch. */
  sent: OutboundRequest | undefined;
  /** Undefined where no cache was asked. */
  cache: SeenCache | undefined;
  /** Where what would leave comes from; undefined until it is found out. */
  origins: OutboundOrigins | undefined;
  /** The failure it is supposed to have met, for `route` to show what comes next; undefined where it was refused before. */
  supposed: GatewayError | undefined;
  readonly health: HealthThen;
  /** Kinds of failure, and statuses, after which another target would be asked. */
  readonly nextAfter: { readonly kinds: readonly FailureKind[]; readonly statusCodes: readonly number[] };
}

/** Where what would leave comes from. */
export interface OutboundOrigins {
  readonly fields: readonly FieldExplanation[];
  /** Lists are told up to this length, because some are longer. */
  readonly fieldsUpTo: number | undefined;
  /** By the header's name; empty where nothing of the request has a say in it. */
  readonly headers: ReadonlyMap<string, readonly FieldSource[]>;
  /** Where the model's name comes from. */
  readonly model: readonly FieldSource[];
  /** Where it is said whether the reply is a stream. */
  readonly stream: readonly FieldSource[];
}

/** What a cache was asked for, and would have said. */
export interface SeenCache {
  readonly key: string;
  /** What went into the key, as it is told. */
  readonly parts: Readonly<Record<string, unknown>>;
  /** The caller wants a new answer, whatever is kept. */
  readonly refresh: boolean;
  /** Kept, and young enough, and can be told in the form that is asked for. */
  readonly kept: CachedReply | undefined;
}
