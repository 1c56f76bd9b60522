import type { Clock } from '../../plugin/index.ts';
import type { Boot } from '../../core/ports/counters.ts';
import { StateFailure } from '../../core/ports/failures.ts';
import { storeUnavailable } from '../../core/ports/store-handle.ts';
import type { CounterPorts, SharedUsage } from '../../core/ports/store.ts';
import type { SharedPorts, StateAnswer, StateQuestion, ToPrimary, ToWorker } from './ipc.ts';
import { NoAnswer, OpenQuestions } from './open-questions.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

/** Limit of an answer. */
const LIMIT_MS = 1000;

type StateRequest = Extract<ToPrimary, { readonly type: 'state' }>;
type StateReply = Extract<ToWorker, { readonly type: 'state' }>;

const CALLS: { readonly [Port in keyof SharedPorts]: readonly (keyof SharedPorts[Port] & string)[] } = {
  counters: ['take', 'report', 'giveBack', 'read', 'notify'],
  ledger: ['append'],
  entities: ['seen'],
  claims: ['take', 'find', 'end'],
};

/** The worker's side of the primary's store. A call without an answer is `unavailable`; it may be repeated. */
export class SharedState implements SharedPorts {
  readonly #send: (message: StateRequest) => void;
  readonly #questions: OpenQuestions<StateAnswer>;
  readonly counters = this.#port('counters');
  readonly ledger = this.#port('ledger');
  readonly entities = this.#port('entities');
  readonly claims = this.#port('claims');

  constructor(send: (message: StateRequest) => void, clock: Clock) {
    this.#send = send;
    this.#questions = new OpenQuestions(clock);
  }

  receive({ id, answer }: StateReply): void {
    this.#questions.settle(id, { answer });
  }

  #port<Port extends keyof SharedPorts>(port: Port): SharedPorts[Port] {
    const calls = CALLS[port].map((call) => [call, (...args: unknown[]) => this.#ask({ port, call, args })]);
    // The primary's port has the same types.
    return Object.fromEntries(calls) as SharedPorts[Port];
  }

  async #ask(question: StateQuestion): Promise<unknown> {
    const answer = await this.#questions
      .ask(question.call, LIMIT_MS, (id) => this.#send({ type: 'state', id, question }))
      .catch((error: unknown) => {
        throw error instanceof NoAnswer ? new StateFailure('unavailable', error.message, { cause: error }) : error;
      });
    if (!answer.failed) return answer.value;
    const { code, message } = answer.failed;
    throw code ? new StateFailure(code, message) : new Error(message);
  }
}

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

const OF_PROCESSES: ReadonlySet<string> = new Set(['take', 'report', 'giveBack']);

const bootIn = ({ port, call, args }: StateQuestion): Boot['id'] | undefined =>
  port === 'counters' && OF_PROCESSES.has(call) ? (args[1] as Boot).id : undefined;

async function answerOf({ port, call, args }: StateQuestion, ports: CounterPorts | undefined): Promise<StateAnswer> {
  try {
    const asked = ports?.[port];
    const allowed: readonly string[] = CALLS[port];
    if (!asked || !allowed.includes(call)) throw storeUnavailable();
    // The worker has the same types: SharedPorts.
    const calls = asked as unknown as Record<string, (...values: readonly unknown[]) => Promise<unknown>>;
    return { value: await calls[call]!(...args) };
  } catch (error) {
    const code = error instanceof StateFailure ? error.code : undefined;
    return { failed: { code, message: messageOf(error) } };
  }
}
