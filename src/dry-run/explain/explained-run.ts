import type { Attempt, Exchange, GatewayError, Target } from '../../plugin/index.ts';
import { nextAfterOf } from './example-failures.ts';
import type { HealthThen } from './frozen-health.ts';
import type { SeenAttempt, PluginStep } from './observation.ts';
import type { ExplainQuestion } from './question.ts';
import type { WatchedRun } from './watch.ts';

/** The collected observations of one request. */
export class ExplainedRun implements WatchedRun {
  readonly steps: PluginStep[] = [];
  readonly notes: string[] = [];
  readonly #seen = new Map<Attempt, SeenAttempt>();
  readonly exchange: Exchange;
  readonly #failures: NonNullable<ExplainQuestion['failures']>;
  readonly #healthOf: (target: Target) => HealthThen;

  constructor(exchange: Exchange, { failures = [] }: ExplainQuestion, healthOf: (target: Target) => HealthThen) {
    this.exchange = exchange;
    this.#failures = failures;
    this.#healthOf = healthOf;
  }

  note(text: string): void {
    this.notes.push(text);
  }

  failureOf({ number }: Attempt): GatewayError | undefined {
    return this.#failures[number];
  }

  seen(attempt: Attempt): SeenAttempt {
    let seen = this.#seen.get(attempt);
    if (!seen) this.#seen.set(attempt, (seen = this.#begin(attempt)));
    return seen;
  }

  #begin(attempt: Attempt): SeenAttempt {
    const { state, retryAt, admits } = this.#healthOf(attempt.target);
    return {
      attempt,
      config: this.exchange.config!,
      body: attempt.body,
      written: undefined,
      resolved: attempt.resolved,
      outbound: attempt.outbound,
      sent: undefined,
      cache: undefined,
      origins: undefined,
      supposed: undefined,
      health: { state, retryAt, admits },
      nextAfter: nextAfterOf(this.exchange, attempt),
    };
  }
}
