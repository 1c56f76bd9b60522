import type { Format } from '../../formats/format.ts';
import type {
  AttemptRunner as PublicAttemptRunner,
  Capabilities as PublicCapabilities,
  HealthDirectory as PublicHealthDirectory,
  RequestLimits as PublicRequestLimits,
  TargetHealth,
} from '../../plugin/capabilities.ts';
import type { GatewayError } from '../../plugin/errors.ts';
import type { Choice } from '../../plugin/exchange.ts';
import type { ReplyEnd } from '../../plugin/reply.ts';
import type { Attempt } from './attempt.ts';
import type { JsonLimits } from './body/json-scan.ts';
import type { KeyRing } from './callers.ts';
import type { Exchange, GatewayContext } from './exchange.ts';
import type { FileService } from './files.ts';
import type { AliasDirectory, ModelDirectory } from './models.ts';
import type { PromptDirectory } from './prompts.ts';
import type { RateGates } from './rate-gates.ts';
import type { ReplyCache } from './reply-cache.ts';
import type { ResponseService } from './responses.ts';
import type { SemanticCache } from './semantic-cache.ts';
import type { MediaInliner, Sender, TargetResolver, Translator } from './sending.ts';
import type { GatewayConfig, Target } from './settings.ts';
import type { Turns } from './turns.ts';

/** Capabilities that a built-in plugin names in `needs` and gets from its host. External plugins never get `send`, `semantic`, `budgets` and `cache`. */
export interface Capabilities extends PublicCapabilities {
  readonly keys: KeyRing;
  readonly configs: ConfigDirectory;
  readonly attempts: AttemptRunner;
  readonly health: HealthDirectory;
  readonly targets: TargetResolver;
  readonly models: ModelDirectory;
  readonly aliases: AliasDirectory;
  readonly prompts: PromptDirectory;
  readonly translate: Translator;
  readonly media: MediaInliner;
  /** The format of error replies for requests without an operation. */
  readonly defaultFormat: Format;
  readonly send: Sender;
  readonly cache: ReplyCache;
  readonly semantic: SemanticCache;
  readonly recorder: Recorder;
  readonly limits: RequestLimits;
  readonly gates: RateGates;
  readonly turns: Turns;
  readonly files: FileService;
  readonly responses: ResponseService;
  readonly budgets: RequestBudgets;
  readonly guards: Guards;
}
export type CapabilityName = keyof Capabilities;

/** The gateway configs of the snapshot and the chains compiled for them. */
export interface ConfigDirectory {
  get(id: string): GatewayConfig | undefined;
  /**
   * Compiles a config that came with the request, as JSON. Equal texts give the same config. Throws GatewayError
   * `invalid_config`.
   * @param header full name of the header it came in
   * @param may what the caller may set in it besides the rest. Default: nothing
   */
  inline(json: string, header: string, may?: { readonly plugins: boolean }): GatewayConfig;
  readonly ids: readonly string[];
  /** Id of the server's config for requests that name none. */
  readonly fallbackId: string | undefined;
  /** Used for requests without any config: one target, which the request itself names. */
  readonly direct: GatewayConfig;
  /** Runs the request chain of `config`. */
  run(config: GatewayConfig, ctx: GatewayContext): Promise<void>;
}

export interface AttemptRunner extends PublicAttemptRunner {
  run(ctx: GatewayContext, target: Target, choice: Choice): Promise<void>;
}

export interface HealthDirectory extends PublicHealthDirectory {
  of(config: GatewayConfig, target: Target, exchange?: Exchange): TargetHealth;
}

interface FormLimits {
  /** Maximum bytes of one form. */
  readonly bytes: number;
  /** Maximum bytes of one form that are held in memory. */
  readonly held: number;
  /** A client that sends nothing for this long is disconnected. */
  readonly idleMs: number;
}

export interface RequestLimits extends PublicRequestLimits {
  /** Maximum bytes of one request's body. */
  readonly body: number;
  /** Limits of multipart forms for models. */
  readonly form: FormLimits;
  /** Limits of the body's JSON structure. */
  readonly json: JsonLimits;
  /** The gateway has no external plugin, which might read a body after its request. */
  readonly builtInOnly?: boolean;
  reserve(exchange: Exchange, bytes: number): GatewayError | undefined;
}

/** How a reserve is worked out. */
export interface BudgetRules {
  /** bound: the most that the request can cost. typical: where the gateway chose the length of the answer, what 99 of 100 answers of the model have. */
  readonly reserve: 'bound' | 'typical';
  /** The treatment of a request whose price is not known. `assume`: USD per million tokens. */
  readonly unknownPrice: 'refuse' | 'admit_and_alarm' | { readonly input: number; readonly output: number };
  /** The treatment of a stream that costs more than its reserve, when its budgets have no room for more. */
  readonly onOverrun: 'continue' | 'cut';
}

/** The budgets of callers. */
export interface RequestBudgets {
  /**
   * Reserves the most that the attempt can cost on all budgets of its caller, in `attempt.budget`, until the end of the
   * exchange. A promise: the store is asked. Errors: `budget_exceeded`, `budget_unavailable`, `model_unpriced`.
   */
  reserve(exchange: Exchange, attempt: Attempt, rules: BudgetRules): Promise<void> | undefined;
  /** Notes in `attempt.budget` what `reserve` would reserve, and counts nothing. Throws where no budget could admit it, spent or not. */
  preview(exchange: Exchange, attempt: Attempt, rules: BudgetRules): void;
}

/** The guards of the settings. Their code is loaded when a chain opens them. */
export interface Guards {
  /** request: the guards of the server, the key and the config. attempt: those of the target. */
  open(level: 'request' | 'attempt'): Promise<(ctx: GatewayContext, next: () => Promise<void>) => Promise<void>>;
}

/** Records requests for logs, metrics and traces; see src/core/record. */
export interface Recorder {
  /** Starts recording a request that has arrived. The returned object ends the recording. */
  open(exchange: Exchange): { readonly close: (end: ReplyEnd) => void };
}
