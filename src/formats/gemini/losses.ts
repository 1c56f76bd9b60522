import type { Loss } from '../conversation.ts';

/** Collects what a request cannot say in Gemini's words; one entry per parameter and action. */
export class LossReport {
  readonly #losses = new Map<string, Loss>();

  dropped(param: string, reason: string): void {
    this.#add({ param, action: 'dropped', reason });
  }

  clamped(param: string, reason: string): void {
    this.#add({ param, action: 'clamped', reason });
  }

  downgraded(param: string, reason: string): void {
    this.#add({ param, action: 'downgraded', reason });
  }

  list(): Loss[] {
    return [...this.#losses.values()];
  }

  #add(loss: Loss): void {
    const key = `${loss.action} ${loss.param} ${loss.reason}`;
    if (!this.#losses.has(key)) this.#losses.set(key, loss);
  }
}
