import type { Globs } from './globs.ts';

/** Names made like the vendors make theirs. Callers write model names: without this, any text could become a label. */
const VENDOR_NAME =
  /^(?:claude|gemini|gemma|imagen|text-embedding|gpt|o[0-9]|llama|mistral|codestral|sim)-[a-z0-9][a-z0-9.@-]{0,63}$/;
const MAX_NAMES = 200;
/** The part of all labels that one key may take. */
const SHARE = 10;
/** As long as a series of the metrics stays that nothing is recorded under. */
export const LABEL_IDLE_MS = 24 * 60 * 60 * 1000;
export const OTHER = '__other__';

/** Model names as metric labels. */
export interface ModelNames {
  /**
   * @param listed the entry's allow-list: a name it has literally is always itself
   * @param asked the name as the request has it, which is what the list is about
   * @param model the name as the upstream knows it, which is the label
   */
  labelFor(listed: Globs | undefined, asked: string, model: string): string;
  /** The label of a name that an upstream has answered with a 2xx. */
  answered(model: string, keyId: string): string;
}

/** Whether an upstream's name could become a label. */
export const isVendorName = (model: string): boolean => VENDOR_NAME.test(model);

export interface ModelLabelsSetup {
  /** Monotonic milliseconds. Default: time stands still. */
  readonly now?: () => number;
  /** Names that no catalog lists. */
  readonly max?: number;
}

interface Taken {
  readonly keyId: string;
  usedAt: number;
}

/**
 * A name that no catalog lists takes a label when it has answered 2xx, so that guesses take none, and gives it up when it was not asked
 * for in a day. Each key takes at most a tenth of them: one that asks for many models leaves room for those of others.
 * What has no label is `__other__`. One per gateway, see worker-labels.ts for workers.
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

  /** Another one for other names. */
  get version(): number {
    return this.#version;
  }

  labelFor(listed: Globs | undefined, asked: string, model: string): string {
    return listed?.hasLiteral(asked) || this.#use(model) ? model : OTHER;
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
