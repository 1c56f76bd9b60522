import type { Globs } from './globs.ts';

/** The form of vendors' model names. Callers choose model names, so without this check any text could become a label. */
const VENDOR_NAME =
  /^(?:claude|gemini|gemma|imagen|text-embedding|gpt|o[0-9]|llama|mistral|codestral|sim)-[a-z0-9][a-z0-9.@-]{0,63}$/;
const MAX_NAMES = 200;
/** One key may take at most `1 / SHARE` of all labels. */
const SHARE = 10;
/** The time after which the metrics drop a series without new values. */
export const LABEL_IDLE_MS = 24 * 60 * 60 * 1000;
export const OTHER = '__other__';

export interface ModelNames {
  /**
   * @param listed the entry's allow-list: a `requested` name that it contains literally always has its own label
   * @param model the upstream's name, which is the label
   */
  labelFor(listed: Globs | undefined, requested: string, model: string): string;
  /** The label of a name that an upstream has answered with 2xx. */
  answered(model: string, keyId: string): string;
}

const isVendorName = (model: string): boolean => VENDOR_NAME.test(model);

interface Taken {
  readonly keyId: string;
  usedAt: number;
}

/**
 * A name that no catalog lists takes a label with its first 2xx, so that guesses take none, and loses it after an idle
 * day. A key takes at most a tenth of the labels; others count as `__other__`. A worker has `WorkerLabels`.
 */
export class ModelLabels implements ModelNames {
  readonly #taken = new Map<string, Taken>();
  readonly #now: () => number;
  readonly #max: number;
  #version = 0;

  /** @param setup `now`: monotonic milliseconds, by default of a clock that stands still */
  constructor({ now = () => 0, max = MAX_NAMES }: { readonly now?: () => number; readonly max?: number } = {}) {
    this.#now = now;
    this.#max = max;
  }

  get names(): readonly string[] {
    return [...this.#taken.keys()];
  }

  /** Changes whenever `names` changes. */
  get version(): number {
    return this.#version;
  }

  labelFor(listed: Globs | undefined, requested: string, model: string): string {
    return listed?.hasLiteral(requested) || this.#use(model) ? model : OTHER;
  }

  answered(model: string, keyId: string): string {
    if (this.#use(model)) return model;
    if (!isVendorName(model) || !this.#hasRoom(keyId)) return OTHER;
    this.#taken.set(model, { keyId, usedAt: this.#now() });
    this.#version += 1;
    return model;
  }

  #use(model: string): boolean {
    const taken = this.#taken.get(model);
    if (!taken) return false;
    const now = this.#now();
    if (isIdle(taken, now)) return this.#giveUp(model);
    taken.usedAt = now;
    return true;
  }

  #hasRoom(keyId: string): boolean {
    const now = this.#now();
    let own = 0;
    for (const [model, taken] of this.#taken) {
      if (isIdle(taken, now)) this.#giveUp(model);
      else if (taken.keyId === keyId) own += 1;
    }
    return this.#taken.size < this.#max && own < this.#max / SHARE;
  }

  #giveUp(model: string): false {
    this.#taken.delete(model);
    this.#version += 1;
    return false;
  }
}

const isIdle = ({ usedAt }: Taken, now: number): boolean => now - usedAt >= LABEL_IDLE_MS;

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

/** The primary decides which names have a label, so that all workers agree. Until then a name is `__other__`. */
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
