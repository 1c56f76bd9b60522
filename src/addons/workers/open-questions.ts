import type { Clock } from '../../plugin/index.ts';

/** A process that does not read its channel must not fill the memory of another. */
const MAX_WAITING = 256;

/** Thrown if an answer did not come in time or the process is gone. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** The questions to another process that it has not answered yet. Every question is answered, fails or times out. */
export class OpenQuestions<Answer> {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #last = 0;
  #gone = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects with NoAnswer, or with the error of the answer. @param send with the id of the question; may throw */
  ask(what: string, limitMs: number, send: (id: number) => void): Promise<Answer> {
    if (this.#gone) return noAnswer(`the process has ended: no answer to "${what}"`);
    if (this.#waiting.size >= MAX_WAITING) return noAnswer('too many questions wait for an answer');
    const id = (this.#last += 1);
    const waiting = Promise.withResolvers<Answer>();
    this.#waiting.set(id, waiting);
    const giveUp = this.#clock.after(limitMs, () =>
      this.settle(id, { error: new NoAnswer(`no answer to "${what}" within ${limitMs} ms`) }),
    );
    try {
      send(id);
    } catch {
      this.settle(id, { error: new NoAnswer(`the question "${what}" cannot be sent`) });
    }
    return waiting.promise.finally(giveUp);
  }

  /** An answer after the time limit is dropped. */
  settle(id: number, answered: { readonly answer: Answer } | { readonly error: Error }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if ('error' in answered) waiting?.reject(answered.error);
    else waiting?.resolve(answered.answer);
  }

  /** Fails all questions, and later ones: the process has ended. */
  end(): void {
    this.#gone = true;
    for (const id of this.#waiting.keys()) this.settle(id, { error: new NoAnswer('the process has ended') });
  }
}

const noAnswer = (why: string): Promise<never> => Promise.reject(new NoAnswer(why));
