import { GatewayError, type Clock } from '../../plugin/index.ts';
import type { KeptNames, KeptResponse, NewResponse } from '../../core/kernel/index.ts';
import { sizeOf } from '../../core/memory/kept-size.ts';
import type { ResponseLimits, ResponseStore } from '../../core/memory/ports.ts';
import type { ResponseAnswer, ResponseQuestion, ToPrimary, ToWorker } from './ipc.ts';
import { OpenQuestions } from './open-questions.ts';
import { UnderWay } from './under-way.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

const MIB = 1024 * 1024;
/** Bounds of what one worker may have under way: a primary that does not read its channel must not fill the memory of workers. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 32 * MIB;
/**
 * Bounds of the answers that the primary has written and that workers have not read: each is a copy of a whole conversation. A key has
 * at most a quarter, or one answer of any size.
 */
const MAX_ANSWER_BYTES = 64 * MIB;
const RETRY_AFTER_MS = 1000;

const busy = (message: string): GatewayError => new GatewayError('busy', message, { retryAfterMs: RETRY_AFTER_MS });

type ResponsesRequest = Extract<ToPrimary, { readonly type: 'responses' }>;
type ResponsesReply = Extract<ToWorker, { readonly type: 'responses' }>;

type ResponsesFailed = Extract<ResponsesReply, { readonly failed: string }>;

const failure = ({ failed, busy: isBusy }: ResponsesFailed): Error =>
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

  async measure(owner: string, names: KeptNames): Promise<number> {
    return (await this.#ask({ act: 'measure', owner, names }, sizeOfIds(names.items))) as number;
  }

  async find(owner: string, id: string): Promise<KeptResponse | undefined> {
    return (await this.#ask({ act: 'find', owner, id })) as KeptResponse | undefined;
  }

  async findItems(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return (await this.#ask({ act: 'findItems', owner, ids }, sizeOfIds(ids))) as ReadonlyMap<string, string>;
  }

  async keep(owner: string, kept: NewResponse): Promise<void> {
    await this.#ask({ act: 'keep', owner, kept }, sizeOf(kept));
  }

  async remove(owner: string, id: string): Promise<boolean> {
    return (await this.#ask({ act: 'remove', owner, id })) as boolean;
  }

  receive(answered: ResponsesReply): void {
    this.#questions.settle(answered.id, answered.failed === undefined ? answered : { error: failure(answered) });
  }

  /** A reply that is kept waits for the answer with its last bytes. */
  #ask(question: ResponseQuestion, bytes = 0): Promise<ResponseAnswer> {
    const { owner } = question;
    const answered = this.#asked.enter(owner, 1);
    const taken = answered && this.#askedBytes.enter(owner, bytes);
    if (!answered || !taken) {
      answered?.();
      return Promise.reject(
        busy('Too many questions about kept responses wait for their answers, of all keys or of this one.'),
      );
    }
    const asked = this.#questions.ask(question.act, (id) => this.#send({ type: 'responses', id, question }));
    return asked.finally(() => {
      answered();
      taken();
    });
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
      const left = this.#underWay.enter(question.owner, await bytesOf(question, this.#store));
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
async function bytesOf(question: ResponseQuestion, store: ResponseStore): Promise<number> {
  const { owner } = question;
  switch (question.act) {
    case 'find':
      return store.measure(owner, { response: question.id, items: [] });
    case 'findItems':
      return sizeOfIds(question.ids) + 2 * (await store.measure(owner, { items: question.ids }));
    default:
      return 0;
  }
}

function act(question: ResponseQuestion, store: ResponseStore): ResponseAnswer | Promise<ResponseAnswer> {
  const { owner } = question;
  switch (question.act) {
    case 'measure':
      return store.measure(owner, question.names);
    case 'find':
      return store.find(owner, question.id);
    case 'findItems':
      return store.findItems(owner, question.ids);
    case 'keep':
      return store.keep(owner, question.kept);
    case 'remove':
      return store.remove(owner, question.id);
  }
}
