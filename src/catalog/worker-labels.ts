import type { Globs } from './globs.ts';
import { isVendorName, LABEL_IDLE_MS, OTHER, type ModelNames } from './model-labels.ts';

/** A name that a worker has seen answered, for its primary to decide on. */
export interface LabelUse {
  readonly model: string;
  readonly keyId: string;
}

/** A worker reports a label in use to the primary at this interval: the primary forgets a label after LABEL_IDLE_MS without a report. */
const TELL_AGAIN_MS = LABEL_IDLE_MS / 24;
/** At most this many names without a label are reported to the primary: callers can send any number of names … */
const ASKS_PER_SECOND = 200;
/** … and one key must leave room for the names of others. */
const ASKS_PER_KEY = 5;

/**
 * The labels of a worker. The primary decides which names have one, so that all workers agree and the bounds hold for all together: a
 * name that answers for the first time counts as `__other__` until the primary has told its label.
 */
export class WorkerLabels implements ModelNames {
  readonly #now: () => number;
  readonly #report: (use: LabelUse) => void;
  /** When the use of each was told last. */
  #names = new Map<string, number>();
  #asksSince = -Infinity;
  #asks = 0;
  readonly #asksOfKeys = new Map<string, number>();

  constructor(now: () => number, report: (use: LabelUse) => void) {
    this.#now = now;
    this.#report = report;
  }

  /** These have labels from now on, and no others. */
  follow(names: readonly string[]): void {
    this.#names = new Map(names.map((name) => [name, this.#names.get(name) ?? this.#now()]));
  }

  labelFor(listed: Globs | undefined, asked: string, model: string): string {
    if (listed?.hasLiteral(asked)) return model;
    const reportedAt = this.#names.get(model);
    if (reportedAt === undefined) return OTHER;
    const now = this.#now();
    if (now - reportedAt >= TELL_AGAIN_MS) {
      this.#names.set(model, now);
      this.#report({ model, keyId: '' });
    }
    return model;
  }

  answered(model: string, keyId: string): string {
    if (this.#names.has(model)) return model;
    if (isVendorName(model) && this.#mayAsk(keyId)) this.#report({ model, keyId });
    return OTHER;
  }

  #mayAsk(keyId: string): boolean {
    const now = this.#now();
    if (now - this.#asksSince >= 1000) {
      this.#asksSince = now;
      this.#asks = 0;
      this.#asksOfKeys.clear();
    }
    const ofKey = this.#asksOfKeys.get(keyId) ?? 0;
    if (this.#asks >= ASKS_PER_SECOND || ofKey >= ASKS_PER_KEY) return false;
    this.#asks += 1;
    this.#asksOfKeys.set(keyId, ofKey + 1);
    return true;
  }
}
