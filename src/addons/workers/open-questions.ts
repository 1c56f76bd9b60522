import type { Clock } from '../../plugin/index.ts';
import { NoAnswer } from './ipc.ts';

/** Limit of an answer. */
const LIMIT_MS = 1_000;
/** A primary that does not read its channel must not fill the memory of workers. */
const MAX_WAITING = 256;

interface OpenQuestion<Answer> {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** The questions of a worker that its primary has not answered yet. */
export class OpenQuestions<Answer> {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, OpenQuestion<Answer>>();
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects with NoAnswer, or with the error of the answer. @param send with the id of the question */
  ask(what: string, send: (id: number) => void): Promise<Answer> {
    if (this.#waiting.size >= MAX_WAITING)
      return Promise.reject(new NoAnswer('too many questions to the primary wait for an answer'));
    return new Promise((resolve, reject) => {
      const id = (this.#last += 1);
      const settle = (): void => {
        this.#waiting.delete(id);
        giveUp();
      };
      const waiting: OpenQuestion<Answer> = {
        resolve: (answer) => (settle(), resolve(answer)),
        reject: (error) => (settle(), reject(error)),
      };
      const giveUp = this.#clock.after(LIMIT_MS, () =>
        waiting.reject(new NoAnswer(`no answer of the primary to "${what}" within ${LIMIT_MS} ms`)),
      );
      this.#waiting.set(id, waiting);
      send(id);
    });
  }

  /** An answer after the time limit is dropped. */
  settle(id: number, answered: { readonly answer: Answer } | { readonly error: Error }): void {
    const waiting = this.#waiting.get(id);
    if ('error' in answered) waiting?.reject(answered.error);
    else waiting?.resolve(answered.answer);
  }
}
