import { ModelLabels, type LabelUse } from '../../catalog/model-labels.ts';
import type { Clock } from '../../plugin/index.ts';

/** Decides for all workers which model names are metric labels. */
export class PoolLabels {
  readonly #labels: ModelLabels;
  readonly #spread: (names: readonly string[]) => void;
  #spreadVersion = 0;

  /** @param spread sends the names to all workers */
  constructor(clock: Pick<Clock, 'now'>, spread: (names: readonly string[]) => void) {
    this.#labels = new ModelLabels({ now: () => clock.now() });
    this.#spread = spread;
  }

  get names(): readonly string[] {
    return this.#labels.names;
  }

  /** Takes a worker's report: a model name was answered, or its label was used. */
  receive({ model, keyId }: LabelUse): void {
    this.#labels.answered(model, keyId);
    if (this.#labels.version === this.#spreadVersion) return;
    this.#spreadVersion = this.#labels.version;
    this.#spread(this.#labels.names);
  }
}
