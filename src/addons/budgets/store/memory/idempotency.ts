import type { Clock } from '../../../../plugin/index.ts';
import { MAX_ANSWERS, type Idempotency, type KeptAnswer } from '../../../../core/ports/idempotency.ts';
import { checkAnswer } from '../rules/checks.ts';

export class MemoryIdempotency implements Idempotency {
  readonly #clock: Clock;
  /** By actor and key, in the order in which they were kept, which is that of their ends. */
  readonly #answers = new Map<string, KeptAnswer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async find(actor: string, key: string): Promise<KeptAnswer | undefined> {
    const found = this.#answers.get(nameOf(actor, key));
    return found && found.until > this.#clock.wall() ? found : undefined;
  }

  async keep(answer: KeptAnswer): Promise<void> {
    checkAnswer(answer);
    const now = this.#clock.wall();
    for (const [name, { until }] of this.#answers) if (until <= now) this.#answers.delete(name);
    const name = nameOf(answer.actor, answer.key);
    if (!this.#answers.has(name)) this.#answers.set(name, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
  }
}

const nameOf = (actor: string, key: string): string => `${actor}\n${key}`;
