import type { Clock, Found, KeptResponse } from '../../plugin/index.ts';
import { sizeOf } from '../../state/memory/responses.ts';
import type { ResponseLimits, ResponseStore } from '../../state/ports.ts';
import { NoAnswer, type ResponseAnswer, type ResponseQuestion, type ToPrimary, type ToWorker } from './ipc.ts';

/** Limit of an answer. A reply that is kept waits for it with its last bytes. */
const LIMIT_MS = 1_000;
/** Bounds of what one worker may have under way: a primary that does not read its channel must not fill the memory of workers. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

interface OpenQuestion {
  resolve(answer: ResponseAnswer): void;
  reject(error: Error): void;
}

type ResponsesAsked = Extract<ToPrimary, { readonly type: 'responses' }>;
type ResponsesAnswered = Extract<ToWorker, { readonly type: 'responses' }>;

/** The worker's side: the primary keeps the responses, so that any worker can continue them. Rejects with NoAnswer. */
export class SharedResponses implements ResponseStore {
  readonly #send: (message: ResponsesAsked) => void;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, OpenQuestion>();
  #last = 0;
  #bytes = 0;

  constructor(send: (message: ResponsesAsked) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** The primary reads the same settings. */
  apply(_limits: ResponseLimits): void {}

  async find(owner: string, id: string): Promise<Found<KeptResponse>> {
    return (await this.#ask({ act: 'find', owner, id })) as Found<KeptResponse>;
  }

  async findItems(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, Found<string>>> {
    return (await this.#ask({ act: 'findItems', owner, ids })) as ReadonlyMap<string, Found<string>>;
  }

  async keep(owner: string, kept: KeptResponse): Promise<void> {
    await this.#ask({ act: 'keep', owner, kept }, sizeOf(kept));
  }

  async remove(owner: string, id: string): Promise<boolean> {
    return (await this.#ask({ act: 'remove', owner, id })) as boolean;
  }

  /** An answer after the time limit is dropped. */
  receive({ id, answer, failed }: ResponsesAnswered): void {
    const waiting = this.#waiting.get(id);
    if (failed === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(failed));
  }

  #ask(question: ResponseQuestion, bytes = 0): Promise<ResponseAnswer> {
    if (this.#waiting.size >= MAX_WAITING || this.#bytes + bytes > MAX_WAITING_BYTES)
      return Promise.reject(new NoAnswer('too many questions to the primary wait for an answer'));
    return new Promise((resolve, reject) => {
      const id = (this.#last += 1);
      this.#bytes += bytes;
      const settle = (): void => {
        this.#waiting.delete(id);
        this.#bytes -= bytes;
        giveUp();
      };
      const waiting: OpenQuestion = {
        resolve: (answer) => (settle(), resolve(answer)),
        reject: (error) => (settle(), reject(error)),
      };
      const giveUp = this.#clock.after(LIMIT_MS, () =>
        waiting.reject(new NoAnswer(`no answer of the primary to "${question.act}" within ${LIMIT_MS} ms`)),
      );
      this.#waiting.set(id, waiting);
      this.#send({ type: 'responses', id, question });
    });
  }
}

/** The primary's side. */
export async function answerAboutResponses(
  { id, question }: ResponsesAsked,
  store: ResponseStore,
): Promise<ResponsesAnswered> {
  try {
    return { type: 'responses', id, answer: await act(question, store) };
  } catch (error) {
    return { type: 'responses', id, failed: error instanceof Error ? error.message : String(error) };
  }
}

function act(question: ResponseQuestion, store: ResponseStore): ResponseAnswer | Promise<ResponseAnswer> {
  const { owner } = question;
  switch (question.act) {
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
