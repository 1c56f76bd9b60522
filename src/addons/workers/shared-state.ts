import type { Clock } from '../../plugin/index.ts';
import type { Claims } from '../../core/ports/claims.ts';
import type { Boot } from '../../core/ports/counters.ts';
import { StateFailure } from '../../core/ports/failures.ts';
import { storeUnavailable } from '../../core/ports/store-handle.ts';
import type { CounterPorts, SharedUsage } from '../../core/ports/store.ts';
import type { SharedCall, SharedCalls, StateAnswer, StateQuestion, ToPrimary, ToWorker } from './ipc.ts';
import { NoAnswer, OpenQuestions } from './open-questions.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

/** Limit of an answer. */
const LIMIT_MS = 1000;

type StateRequest = Extract<ToPrimary, { readonly type: 'state' }>;
type StateReply = Extract<ToWorker, { readonly type: 'state' }>;

/** The worker's side of the primary's store. A call without an answer is `unavailable`; it may be repeated. */
export class SharedState implements SharedCalls {
  readonly #send: (message: StateRequest) => void;
  readonly #questions: OpenQuestions<StateAnswer>;

  constructor(send: (message: StateRequest) => void, clock: Clock) {
    this.#send = send;
    this.#questions = new OpenQuestions(clock);
  }

  readonly take: SharedCalls['take'] = (...args) => this.#ask('take', args);
  readonly report: SharedCalls['report'] = (...args) => this.#ask('report', args);
  readonly giveBack: SharedCalls['giveBack'] = (...args) => this.#ask('giveBack', args);
  readonly read: SharedCalls['read'] = (...args) => this.#ask('read', args);
  readonly notify: SharedCalls['notify'] = (...args) => this.#ask('notify', args);
  readonly append: SharedCalls['append'] = (...args) => this.#ask('append', args);
  readonly seen: SharedCalls['seen'] = (...args) => this.#ask('seen', args);
  readonly takeClaim: SharedCalls['takeClaim'] = (...args) => this.#ask('takeClaim', args);
  readonly findClaim: SharedCalls['findClaim'] = (...args) => this.#ask('findClaim', args);
  readonly endClaim: SharedCalls['endClaim'] = (...args) => this.#ask('endClaim', args);
  readonly claims: Claims = { take: this.takeClaim, find: this.findClaim, end: this.endClaim };

  receive({ id, answer }: StateReply): void {
    this.#questions.settle(id, { answer });
  }

  async #ask<Call extends SharedCall>(
    call: Call,
    args: Parameters<SharedCalls[Call]>,
  ): Promise<Awaited<ReturnType<SharedCalls[Call]>>> {
    const question: StateQuestion = { call, args };
    const answer = await this.#questions
      .ask(call, LIMIT_MS, (id) => this.#send({ type: 'state', id, question }))
      .catch((error: unknown) => {
        throw error instanceof NoAnswer ? new StateFailure('unavailable', error.message, { cause: error }) : error;
      });
    if (!answer.failed) return answer.value as Awaited<ReturnType<SharedCalls[Call]>>;
    const { code, message } = answer.failed;
    throw code ? new StateFailure(code, message) : new Error(message);
  }
}

/** The only calls that a worker may make: a process that serves requests does not write settings. */
const PORTS: Readonly<Record<SharedCall, readonly [port: keyof CounterPorts, call: string]>> = {
  take: ['counters', 'take'],
  report: ['counters', 'report'],
  giveBack: ['counters', 'giveBack'],
  read: ['counters', 'read'],
  notify: ['counters', 'notify'],
  append: ['ledger', 'append'],
  seen: ['entities', 'seen'],
  takeClaim: ['claims', 'take'],
  findClaim: ['claims', 'find'],
  endClaim: ['claims', 'end'],
};

/** The primary's side. */
export class StateAnswers {
  readonly #usage: Pick<SharedUsage, 'ports' | 'ended'> | undefined;
  /** The process that each worker is, as the counters know it. */
  readonly #boots = new Map<number, Boot['id']>();

  constructor(usage: Pick<SharedUsage, 'ports' | 'ended'> | undefined) {
    this.#usage = usage;
  }

  async answer(worker: number, { id, question }: StateRequest): Promise<StateReply> {
    const boot = bootIn(question);
    if (boot !== undefined) this.#boots.set(worker, boot);
    return { type: 'state', id, answer: await answerOf(question, this.#usage?.ports) };
  }

  ended(worker: number): void {
    const boot = this.#boots.get(worker);
    this.#boots.delete(worker);
    if (boot !== undefined) this.#usage?.ended(boot);
  }
}

const OF_PROCESSES: ReadonlySet<SharedCall> = new Set(['take', 'report', 'giveBack']);

const bootIn = ({ call, args }: StateQuestion): Boot['id'] | undefined =>
  OF_PROCESSES.has(call) ? (args[1] as Boot).id : undefined;

async function answerOf({ call, args }: StateQuestion, ports: CounterPorts | undefined): Promise<StateAnswer> {
  try {
    const [name, method] = PORTS[call];
    // The worker has the same types: SharedCalls.
    const port = ports?.[name] as unknown as
      | Record<string, (...values: readonly unknown[]) => Promise<unknown>>
      | undefined;
    if (!port) throw storeUnavailable();
    return { value: await port[method]!(...args) };
  } catch (error) {
    const code = error instanceof StateFailure ? error.code : undefined;
    return { failed: { code, message: messageOf(error) } };
  }
}
