import type { RequestPrices } from '../../../core/record/costs.ts';
import type {
  Attempt,
  CachedReply,
  GatewayConfig,
  Outbound,
  RequestBody,
  ResolvedTarget,
  Exchange,
  Target,
} from '../../../core/kernel/index.ts';
import type { GatewayError, PluginWords } from '../../../plugin/index.ts';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import type { ListedPlugin } from '../../../core/compose/chain-builder.ts';
import type { DryAttempt, DryRun } from '../../../core/dry-run/dry-run.ts';
import { type NextAfter, nextAfterOf } from './example-failures.ts';
import type { ExplainQuestion } from './question.ts';
import type { DryCall } from '../../../core/dry-run/calls.ts';
import type { HealthThen } from './frozen.ts';
import { HeaderMarks } from './header-marks.ts';

/** The dry run of a question, with what only explain notes of it. */
export interface Observation extends DryRun {
  readonly question: ExplainQuestion;
  readonly server: ServerSettings;
  readonly prices: RequestPrices | undefined;
  /** How the caller was determined without a key in the headers. */
  readonly supposedCaller: 'named' | 'unknown' | undefined;
  readonly steps: readonly PluginStep[];
  /** The plugins of the server's chains, in listed order. */
  readonly listed: readonly ListedPlugin[];
  readonly attempts: readonly SeenAttempt[];
  /** The headers of the client's request that plugins set. */
  readonly requestHeaders: HeaderMarks;
  readonly reply: { readonly headers: ReadonlyMap<string, string>; readonly marks: HeaderMarks };
  readonly notes: readonly string[];
}

export interface PluginStep {
  readonly place: ListedPlugin;
  readonly run: boolean;
  readonly attempt: Attempt | undefined;
  running: boolean;
  words: PluginWords | undefined;
  /** The error that it threw itself, not an error of a later plugin. */
  refused: GatewayError | undefined;
}

export interface SeenAttempt extends DryAttempt, AttemptNotes {}

/** Notes on one run of the attempt chain, captured because a failing attempt discards these values. */
export interface AttemptNotes {
  readonly attempt: Attempt;
  readonly config: GatewayConfig;
  body: RequestBody;
  resolved: ResolvedTarget | undefined;
  outbound: Outbound | undefined;
  /** The headers of `outbound` that plugins set after it was encoded. */
  readonly sentHeaders: HeaderMarks;
  /** Undefined when no cache was looked up. */
  cache: SeenCache | undefined;
  /** The assumed failure, so that `route` tries the next target; undefined when the attempt was rejected earlier. */
  supposed: GatewayError | undefined;
  readonly health: HealthThen;
  readonly nextAfter: NextAfter;
}

export interface SeenCache {
  readonly key: string;
  /** The parts of the key, without secrets. */
  readonly parts: Readonly<Record<string, unknown>>;
  readonly refresh: boolean;
  /** The cached reply, if it is fresh and can be rendered in the requested form. */
  readonly kept: CachedReply | undefined;
}

interface WithAnswers {
  readonly answers?: boolean;
}

export class ExplainedRun {
  readonly steps: PluginStep[] = [];
  readonly notes: string[] = [];
  readonly calls: DryCall[] = [];
  readonly requestHeaders = new HeaderMarks();
  readonly replyHeaders = new HeaderMarks();
  readonly #attempts = new Map<Attempt, AttemptNotes>();
  readonly exchange: Exchange;
  /** The failures of the attempts of a request that was served. */
  readonly failures: ExplainQuestion['failures'];
  /** True: the first request that is sent gets an empty reply, in place of a failure. */
  readonly answers: boolean;
  readonly #failureOf: ExplainQuestion['failureOf'];
  readonly #healthOf: (target: Target) => HealthThen;

  constructor(
    exchange: Exchange,
    { failures, failureOf, answers = false }: Pick<ExplainQuestion, 'failures' | 'failureOf'> & WithAnswers,
    healthOf: (target: Target) => HealthThen,
  ) {
    this.exchange = exchange;
    this.failures = failures ?? (failureOf && []);
    this.#failureOf = failureOf;
    this.answers = answers;
    this.#healthOf = healthOf;
  }

  failureOf(attempt: Attempt): GatewayError | undefined {
    return this.#failureOf ? this.#failureOf(attempt) : this.failures?.[attempt.number];
  }

  notesOf(attempt: Attempt): AttemptNotes {
    let notes = this.#attempts.get(attempt);
    if (!notes) this.#attempts.set(attempt, (notes = this.#begin(attempt)));
    return notes;
  }

  #begin(attempt: Attempt): AttemptNotes {
    const { state, retryAt, admits } = this.#healthOf(attempt.target);
    return {
      attempt,
      config: this.exchange.config!,
      body: attempt.body,
      resolved: attempt.resolved,
      outbound: attempt.outbound,
      sentHeaders: new HeaderMarks(),
      cache: undefined,
      supposed: undefined,
      health: { state, retryAt, admits },
      nextAfter: nextAfterOf(this.exchange, attempt),
    };
  }
}
