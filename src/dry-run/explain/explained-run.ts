import type { Attempt, Exchange, GatewayError, Target } from '../../plugin/index.ts';
import { nextAfterOf } from './example-failures.ts';
import type { HealthThen } from './frozen-health.ts';
import type { AttemptNotes, PluginStep } from './observation.ts';
import type { ExplainQuestion } from './question.ts';
import type { DryCall } from '../run/calls.ts';

/** The collected observations of one request. */
export class ExplainedRun {
  readonly steps: PluginStep[] = [];
  readonly notes: string[] = [];
  /** In order. */
  readonly calls: DryCall[] = [];
  readonly #attempts = new Map<Attempt, AttemptNotes>();
  readonly exchange: Exchange;
  readonly #failures: NonNullable<ExplainQuestion['failures']>;
  readonly #healthOf: (target: Target) => HealthThen;

  constructor(exchange: Exchange, { failures = [] }: ExplainQuestion, healthOf: (target: Target) => HealthThen) {
    this.exchange = exchange;
    this.#failures = failures;
    this.#healthOf = healthOf;
  }

  /** The known failure of an attempt. */
  failureOf({ number }: Attempt): GatewayError | undefined {
    return this.#failures[number];
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
      written: undefined,
      resolved: attempt.resolved,
      outbound: attempt.outbound,
      cache: undefined,
      origins: undefined,
      supposed: undefined,
      health: { state, retryAt, admits },
      nextAfter: nextAfterOf(this.exchange, attempt),
    };
  }
}
