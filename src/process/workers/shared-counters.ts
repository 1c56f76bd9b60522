import type { Clock } from '../../plugin/index.ts';
import { MAX_BATCH, type Boot, type Counters } from '../../state/counters.ts';
import {
  NoAnswer,
  type CounterAnswer,
  type CounterAnswers,
  type CounterQuestion,
  type ToPrimary,
  type ToWorker,
} from './ipc.ts';

/** Limit of an answer. The process asks one question at a time, ahead of its requests. */
const LIMIT_MS = 5_000;
/** One question and its repetition are under way at a time. */
const MAX_WAITING = 16;

interface OpenCounterQuestion {
  resolve(answer: CounterAnswer): void;
  reject(error: Error): void;
}

type CountersAsked = Extract<ToPrimary, { readonly type: 'counters' }>;
type CountersAnswered = Extract<ToWorker, { readonly type: 'counters' }>;

/** The worker's side: the primary counts what all workers spend. Rejects with NoAnswer. */
export class SharedCounters implements Pick<Counters, 'take' | 'report' | 'giveBack'> {
  readonly #send: (message: CountersAsked) => void;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, OpenCounterQuestion>();
  #last = 0;

  constructor(send: (message: CountersAsked) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  take(...[asks, by, batch]: Parameters<Counters['take']>): ReturnType<Counters['take']> {
    return this.#ask('take', { act: 'take', asks, by, batch });
  }

  report(...[used, by]: Parameters<Counters['report']>): ReturnType<Counters['report']> {
    return this.#ask('report', { act: 'report', used, by });
  }

  giveBack(...[leases, by]: Parameters<Counters['giveBack']>): ReturnType<Counters['giveBack']> {
    return this.#ask('giveBack', { act: 'giveBack', leases, by });
  }

  /** An answer after the time limit is dropped: the same question again has the same answer. */
  receive({ id, answer, failed }: CountersAnswered): void {
    const waiting = this.#waiting.get(id);
    if (failed === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(failed));
  }

  #ask<A extends keyof CounterAnswers>(act: A, question: CounterQuestion): Promise<CounterAnswers[A]> {
    if (this.#waiting.size >= MAX_WAITING)
      return Promise.reject(new NoAnswer('too many questions to the primary wait for an answer'));
    return new Promise((resolve, reject) => {
      const id = (this.#last += 1);
      const settle = (): void => {
        this.#waiting.delete(id);
        giveUp();
      };
      const giveUp = this.#clock.after(LIMIT_MS, () => {
        settle();
        reject(new NoAnswer(`no answer of the primary to "${act}" within ${LIMIT_MS} ms`));
      });
      this.#waiting.set(id, {
        // The primary answers each question with the answer of its kind.
        resolve: (answer) => (settle(), resolve(answer as CounterAnswers[A])),
        reject: (error) => (settle(), reject(error)),
      });
      this.#send({ type: 'counters', id, question });
    });
  }
}

/** Periods that ended longer ago are forgotten: the longest is a month, and a request ends within a day. */
const FORGET_MS = 40 * 86_400_000;
const TIDY_MS = 10_000;

/** The primary's side. A worker that ends has its leases declared lost at once. */
export class CountersOfWorkers {
  readonly #counters: Counters;
  readonly #clock: Clock;
  readonly #onLost: (leases: number) => void;
  /** The processes that each worker has been. */
  readonly #boots = new Map<number, Boot['id']>();
  #stopTimer: (() => void) | undefined;

  constructor(counters: Counters, clock: Clock, onLost: (leases: number) => void) {
    this.#counters = counters;
    this.#clock = clock;
    this.#onLost = onLost;
  }

  async answer(worker: number, { id, question }: CountersAsked): Promise<CountersAnswered> {
    if (!this.#stopTimer) this.#schedule();
    this.#boots.set(worker, question.by.id);
    try {
      return { type: 'counters', id, answer: await this.#act(question) };
    } catch (error) {
      return { type: 'counters', id, failed: error instanceof Error ? error.message : String(error) };
    }
  }

  /** What the worker had leased and not reported counts as spent, because it may have been. */
  async ended(worker: number): Promise<void> {
    const boot = this.#boots.get(worker);
    this.#boots.delete(worker);
    if (boot !== undefined) this.#note(await this.#counters.reap(this.#clock.wall(), boot));
  }

  stop(): void {
    this.#stopTimer?.();
  }

  #act(question: CounterQuestion): Promise<CounterAnswer> {
    switch (question.act) {
      case 'take':
        return this.#counters.take(question.asks.slice(0, MAX_BATCH), question.by, question.batch);
      case 'report':
        return this.#counters.report(question.used.slice(0, MAX_BATCH), question.by);
      case 'giveBack':
        return this.#counters.giveBack(question.leases.slice(0, MAX_BATCH), question.by);
    }
  }

  #schedule(): void {
    this.#stopTimer = this.#clock.after(TIDY_MS, () => {
      void this.#tidy().catch(() => {});
      this.#schedule();
    });
  }

  async #tidy(): Promise<void> {
    const now = this.#clock.wall();
    this.#note(await this.#counters.reap(now));
    await this.#counters.forget(now - FORGET_MS);
  }

  #note(lost: readonly { readonly rest: number }[]): void {
    const withRest = lost.filter(({ rest }) => rest > 0);
    if (withRest.length > 0) this.#onLost(withRest.length);
  }
}
