import type { ExplainQuestion } from './question.ts';
import type { SettingsExplainer } from './settings-explainer.ts';

/** A request as it was when its config was chosen, with the explainer of its settings. */
export interface KeptRequest {
  readonly question: ExplainQuestion;
  /** Explainer of the settings that served it. */
  readonly explainer: Pick<SettingsExplainer, 'hold' | 'release' | 'explain'>;
}

interface Entry extends KeptRequest {
  readonly bytes: number;
}

export interface KeptLimits {
  readonly requests: number;
  readonly bytes: number;
}

const LIMITS: KeptLimits = { requests: 100, bytes: 16 * 1024 * 1024 };
/** Memory of a stored request besides its texts. */
const OVERHEAD_BYTES = 2048;

/** The latest requests that can be explained, bounded in number and bytes; the oldest are dropped first. */
export class KeptRequests {
  readonly #limits: KeptLimits;
  /** The oldest first. */
  readonly #kept = new Map<string, Entry>();
  #bytes = 0;
  #open = true;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the current settings allow storing requests. Requests that began with older settings may still arrive. */
  get open(): boolean {
    return this.#open;
  }

  /** Drops all requests when storing is disabled. */
  apply(open: boolean): void {
    this.#open = open;
    if (!open) this.clear();
  }

  /** @param id unique id of the request */
  add(id: string, { question, explainer }: KeptRequest): void {
    const bytes = sizeOf(question);
    if (bytes > this.#limits.bytes) return;
    explainer.hold();
    this.#kept.set(id, { question, explainer, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#kept) {
      if (this.#kept.size <= this.#limits.requests && this.#bytes <= this.#limits.bytes) break;
      this.#drop(oldest, entry);
    }
  }

  find(id: string): KeptRequest | undefined {
    return this.#kept.get(id);
  }

  clear(): void {
    for (const [id, entry] of this.#kept) this.#drop(id, entry);
  }

  #drop(id: string, { bytes, explainer }: Entry): void {
    this.#kept.delete(id);
    this.#bytes -= bytes;
    explainer.release();
  }
}

function sizeOf({ path, headers, body }: ExplainQuestion): number {
  const texts = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, path.length);
  // As UTF-16, the most memory that V8 uses for them.
  return OVERHEAD_BYTES + 2 * texts + body.length;
}
