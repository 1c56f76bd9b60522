import { GatewayError, type Clock } from '../../plugin/index.ts';
import type { KeptResponse } from '../../core/kernel/index.ts';
import { sizeOf } from '../../core/memory/kept-size.ts';
import type { ResponseLimits, ResponseStore } from '../../core/memory/ports.ts';
import type { ResponseAnswer, ResponseCall, ResponseCalls, ResponseQuestion, ToPrimary, ToWorker } from './ipc.ts';
import { OpenQuestions } from './open-questions.ts';
import { UnderWay } from './under-way.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

const MIB = 1024 * 1024;
/** Limit of an answer. */
const LIMIT_MS = 1000;
/** Bounds of what one worker may have under way: a primary that does not read its channel must not fill the memory of workers. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 32 * MIB;
/** Bytes of answers that workers have not read yet. A key has at most a quarter, or one answer of any size. */
const MAX_ANSWER_BYTES = 64 * MIB;
const RETRY_AFTER_MS = 1000;

const busy = (message: string): GatewayError => new GatewayError('busy', message, { retryAfterMs: RETRY_AFTER_MS });

type ResponsesRequest = Extract<ToPrimary, { readonly type: 'responses' }>;
type ResponsesReply = Extract<ToWorker, { readonly type: 'responses' }>;

const failure = ({ failed, busy: isBusy }: Extract<ResponsesReply, { readonly failed: string }>): Error =>
  isBusy === true ? busy(failed) : new Error(failed);

/** The worker's side: the primary keeps the responses, so that any worker can continue them. Rejects with NoAnswer. */
export class SharedResponses implements ResponseStore {
  readonly #send: (message: ResponsesRequest) => void;
  readonly #questions: OpenQuestions<ResponseAnswer>;
  readonly #asked = new UnderWay(MAX_WAITING);
  readonly #askedBytes = new UnderWay(MAX_WAITING_BYTES);

  constructor(send: (message: ResponsesRequest) => void, clock: Clock) {
    this.#send = send;
    this.#questions = new OpenQuestions(clock);
  }

  /** The primary reads the same settings. */
  apply(_limits: ResponseLimits): void {}

  readonly measure = (...args: Parameters<ResponseCalls['measure']>): Promise<number> =>
    this.#ask('measure', args, sizeOfIds(args[1].items));
  readonly find = (...args: Parameters<ResponseCalls['find']>): Promise<KeptResponse | undefined> =>
    this.#ask('find', args);
  readonly findItems = (...args: Parameters<ResponseCalls['findItems']>): Promise<ReadonlyMap<string, string>> =>
    this.#ask('findItems', args, sizeOfIds(args[1]));
  readonly keep = (...args: Parameters<ResponseCalls['keep']>): Promise<void> =>
    this.#ask('keep', args, sizeOf(args[1]));
  readonly remove = (...args: Parameters<ResponseCalls['remove']>): Promise<boolean> => this.#ask('remove', args);

  receive(answered: ResponsesReply): void {
    this.#questions.settle(answered.id, answered.failed === undefined ? answered : { error: failure(answered) });
  }

  /** A reply that is kept waits for the answer with its last bytes. */
  async #ask<Call extends ResponseCall>(
    call: Call,
    args: Parameters<ResponseCalls[Call]>,
    bytes = 0,
  ): Promise<Awaited<ReturnType<ResponseCalls[Call]>>> {
    const [owner] = args;
    const answered = this.#asked.enter(owner, 1);
    const taken = answered && this.#askedBytes.enter(owner, bytes);
    try {
      if (!taken)
        throw busy('Too many questions about kept responses wait for their answers, of all keys or of this one.');
      const question = { call, args } as ResponseQuestion;
      const answer = await this.#questions.ask(call, LIMIT_MS, (id) => this.#send({ type: 'responses', id, question }));
      return answer as Awaited<ReturnType<ResponseCalls[Call]>>;
    } finally {
      answered?.();
      taken?.();
    }
  }
}

type Send = (answered: ResponsesReply, left: () => void) => void;

/** The primary's side. */
export class ResponseAnswers {
  readonly #store: ResponseStore;
  readonly #underWay = new UnderWay(MAX_ANSWER_BYTES);

  constructor(store: ResponseStore) {
    this.#store = store;
  }

  /** @param send calls `left` when the worker has the answer, or is gone */
  async answer({ id, question }: ResponsesRequest, send: Send): Promise<void> {
    const fail = (failed: string, more: { readonly busy?: true } = {}): void =>
      send({ type: 'responses', id, failed, ...more }, () => {});
    try {
      // Before the read: the bytes of refused questions would fill the memory too.
      const left = this.#underWay.enter(question.args[0], await bytesOf(question, this.#store));
      if (!left)
        return fail('Too many bytes of kept responses are being read, with all keys or with this one.', { busy: true });
      let answer: ResponseAnswer;
      try {
        answer = await act(question, this.#store);
      } catch (error) {
        left();
        throw error;
      }
      send({ type: 'responses', id, answer }, left);
    } catch (error) {
      fail(messageOf(error));
    }
  }
}

const sizeOfIds = (ids: readonly string[]): number => ids.reduce((sum, id) => sum + 2 * id.length, 0);

/** The most bytes that the answer has. Texts of items take two bytes a character. */
async function bytesOf({ call, args }: ResponseQuestion, store: ResponseStore): Promise<number> {
  if (call === 'find') return store.measure(args[0], { response: args[1], items: [] });
  return call === 'findItems' ? sizeOfIds(args[1]) + 2 * (await store.measure(args[0], { items: args[1] })) : 0;
}

function act({ call, args }: ResponseQuestion, store: ResponseStore): ResponseAnswer | Promise<ResponseAnswer> {
  // Call and arguments are a pair of the union; TypeScript does not keep that through the look-up.
  const calls = store as unknown as Record<ResponseCall, (...values: readonly unknown[]) => Promise<ResponseAnswer>>;
  return calls[call](...args);
}
