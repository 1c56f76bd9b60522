import type { Clock, Found, KeptResponse } from '../../plugin/index.ts';
import { sizeOf } from '../../state/memory/responses.ts';
import type { ResponseLimits, ResponseStore } from '../../state/ports.ts';
import type { ResponseAnswer, ResponseQuestion, ToPrimary, ToWorker } from './ipc.ts';
import { OpenQuestions } from './open-questions.ts';

type ResponsesAsked = Extract<ToPrimary, { readonly type: 'responses' }>;
type ResponsesAnswered = Extract<ToWorker, { readonly type: 'responses' }>;

/** The worker's side: the primary keeps the responses, so that any worker can continue them. Rejects with NoAnswer. */
export class SharedResponses implements ResponseStore {
  readonly #send: (message: ResponsesAsked) => void;
  readonly #questions: OpenQuestions<ResponseAnswer>;

  constructor(send: (message: ResponsesAsked) => void, clock: Clock) {
    this.#send = send;
    this.#questions = new OpenQuestions(clock);
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

  receive({ id, answer, failed }: ResponsesAnswered): void {
    this.#questions.settle(id, failed === undefined ? { answer } : { error: new Error(failed) });
  }

  /** A reply that is kept waits for the answer with its last bytes. */
  #ask(question: ResponseQuestion, bytes = 0): Promise<ResponseAnswer> {
    return this.#questions.ask(question.act, (id) => this.#send({ type: 'responses', id, question }), bytes);
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
