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

/** Model names as metric labels. */
export interface ModelNames {
  /**
   * @param listed the entry's allow-list: a name that it contains literally always has its own label
   * @param requested the name in the request, which is compared with the list
   * @param model the upstream's name, which is the label
   */
  labelFor(listed: Globs | undefined, requested: string, model: string): string;
  /** The label of a name that an upstream has answered with 2xx. */
  answered(model: string, keyId: string): string;
}

/** True for an upstream's name that could become a label. */
export const isVendorName = (model: string): boolean => VENDOR_NAME.test(model);

export interface ModelLabelsSetup {
  /** Monotonic milliseconds. Default: a clock that stands still. */
  readonly now?: () => number;
  /** Maximum number of labels for names that no catalog lists. */
  readonly max?: number;
}

interface Taken {
  readonly keyId: string;
  usedAt: number;
}

/**
 * A name that no catalog lists takes a label with its first 2xx, so that guesses take none, and loses it after a day without
 * requests. Each key takes at most a tenth of the labels, which leaves room for the models of other keys. Names without a
 * label count as `__other__`. One instance per gateway; see worker-labels.ts for workers.
 */
export class ModelLabels implements ModelNames {
  readonly #taken = new Map<string, Taken>();
  readonly #now: () => number;
  readonly #max: number;
  #version = 0;

  constructor({ now = () => 0, max = MAX_NAMES }: ModelLabelsSetup = {}) {
    this.#now = now;
    this.#max = max;
  }

  /** The names that have a label now. */
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
