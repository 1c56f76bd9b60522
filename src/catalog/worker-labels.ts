import type { Globs } from './globs.ts';
import { isVendorName, LABEL_IDLE_MS, OTHER, type ModelNames } from './model-labels.ts';

/** A name that was answered in a worker; the primary decides whether it gets a label. */
export interface LabelUse {
  readonly model: string;
  readonly keyId: string;
}

/** A worker reports a label in use to the primary at this interval: the primary forgets a label after LABEL_IDLE_MS without a report. */
const REPORT_INTERVAL_MS = LABEL_IDLE_MS / 24;
/** At most this many names without a label are reported to the primary: callers can send any number of names … */
const REPORTS_PER_SECOND = 200;
/** … and one key must leave room for the names of others. */
const REPORTS_PER_KEY = 5;

/**
 * The labels of a worker. The primary decides which names have one, so that all workers agree and the limits hold for all of
 * them together: a name that is answered for the first time counts as `__other__` until the primary has sent its label.
 */
export class WorkerLabels implements ModelNames {
  readonly #now: () => number;
  readonly #report: (use: LabelUse) => void;
  /** The time when the use of each name was last reported. */
  #names = new Map<string, number>();
  #reportsSince = -Infinity;
  #reports = 0;
  readonly #reportsByKey = new Map<string, number>();

  constructor(now: () => number, report: (use: LabelUse) => void) {
    this.#now = now;
    this.#report = report;
  }

  /** Replaces the names that have labels. */
  follow(names: readonly string[]): void {
    this.#names = new Map(names.map((name) => [name, this.#names.get(name) ?? this.#now()]));
  }

  labelFor(listed: Globs | undefined, requested: string, model: string): string {
    if (listed?.hasLiteral(requested)) return model;
    const reportedAt = this.#names.get(model);
    if (reportedAt === undefined) return OTHER;
    const now = this.#now();
    if (now - reportedAt >= REPORT_INTERVAL_MS) {
      this.#names.set(model, now);
      this.#report({ model, keyId: '' });
    }
    return model;
  }

  answered(model: string, keyId: string): string {
    if (this.#names.has(model)) return model;
    if (isVendorName(model) && this.#mayReport(keyId)) this.#report({ model, keyId });
    return OTHER;
  }

  #mayReport(keyId: string): boolean {
    const now = this.#now();
    if (now - this.#reportsSince >= 1000) {
      this.#reportsSince = now;
      this.#reports = 0;
      this.#reportsByKey.clear();
    }
    const ofKey = this.#reportsByKey.get(keyId) ?? 0;
    if (this.#reports >= REPORTS_PER_SECOND || ofKey >= REPORTS_PER_KEY) return false;
    this.#reports += 1;
    this.#reportsByKey.set(keyId, ofKey + 1);
    return true;
  }
}
