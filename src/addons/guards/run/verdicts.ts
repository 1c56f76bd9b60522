import type { Exchange, GuardVerdict } from '../../../core/kernel/index.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { CompiledGuard } from '../guard.ts';

type On = GuardVerdict['on'];

const FOUND = { deny: 'denied', mask: 'masked', observe: 'observed' } as const;

/** The decision of a guard, while it is made: a later one replaces it if it is graver. */
export class Verdict implements GuardVerdict {
  readonly guard: string;
  readonly on: On;
  readonly action: GuardVerdict['action'];
  verdict: GuardVerdict['verdict'] = 'pass';
  matches = 0;
  heldMs: number | undefined;
  #cause: unknown;
  readonly #guard: CompiledGuard;
  #late: Promise<unknown> | undefined;

  constructor(guard: CompiledGuard, on: On) {
    this.guard = guard.name;
    this.on = on;
    this.action = guard.action;
    this.#guard = guard;
  }

  /** The decision comes behind the end of the request, which waits for none that only observes. Never rejects. */
  get late(): Promise<unknown> | undefined {
    return this.#late;
  }

  /** Why the check failed, where the request went on. */
  get skippedFor(): unknown {
    return this.verdict === 'skipped' ? this.#cause : undefined;
  }

  comesWith(late: Promise<unknown>): void {
    this.#late = late;
  }

  isOf(guard: CompiledGuard, on: On): boolean {
    return this.#guard === guard && this.on === on;
  }

  /** Counts a match. Throws with `deny`. */
  found(denies = this.action === 'deny', message = this.#guard.message): void {
    this.matches += 1;
    this.#become(denies ? 'denied' : FOUND[this.action]);
    if (!denies) return;
    throw new GatewayError('guard_denied', message ?? `The guard "${this.guard}" refused this ${SUBJECT[this.on]}.`);
  }

  /** A part that the guard cannot read. Throws where that is denied. */
  unseen(part: string, denies = this.#guard.onUnseen === 'deny'): void {
    this.#become('unseen');
    if (!denies) return;
    throw new GatewayError(
      'guard_denied',
      `The guard "${this.guard}" cannot read ${part} of this ${SUBJECT[this.on]}, and refuses what it cannot read.`,
    );
  }

  skipped(): void {
    this.#become('skipped');
  }

  /** The check failed. Throws where that is denied. */
  failed(cause: unknown): void {
    this.#become(this.#guard.onError === 'deny' ? 'error' : 'skipped');
    // The message of such an error quotes the text.
    this.#cause = cause instanceof SyntaxError ? undefined : cause;
    if (this.#guard.onError === 'allow') return;
    throw new GatewayError(
      'guard_failed',
      `The guard "${this.guard}" could not check this ${SUBJECT[this.on]}. Try again later.`,
      { cause: this.#cause },
    );
  }

  #become(verdict: GuardVerdict['verdict']): void {
    if (GRAVITY.indexOf(verdict) > GRAVITY.indexOf(this.verdict)) this.verdict = verdict;
  }
}

const SUBJECT = { input: 'request', output: 'reply' } as const;

const GRAVITY: readonly GuardVerdict['verdict'][] = [
  'pass',
  'observed',
  'masked',
  'unseen',
  'skipped',
  'error',
  'denied',
];

/** The decision of a guard about one request: kept with the exchange, for its record. Guards of two lists may share a name. */
export function verdictOf(exchange: Exchange, guard: CompiledGuard, on: On): Verdict {
  const verdicts = (exchange.guards ??= []);
  const known = verdicts.find((one): one is Verdict => one instanceof Verdict && one.isOf(guard, on));
  if (known) return known;
  const made = new Verdict(guard, on);
  verdicts.push(made);
  return made;
}

/** Counts the decisions about a request that has ended, those that are late when they come. */
export function countAll(verdicts: readonly GuardVerdict[], count: (verdicts: readonly GuardVerdict[]) => void): void {
  const lateOf = (verdict: GuardVerdict): Promise<unknown> | undefined =>
    verdict instanceof Verdict ? verdict.late : undefined;
  count(verdicts.filter((verdict) => !lateOf(verdict)));
  for (const verdict of verdicts) void lateOf(verdict)?.then(() => count([verdict]));
}

/** Runs a part of a check. A failure of it is the guard's to decide; `fallback` is the result where it goes on. */
export function guarded<T>(verdict: Verdict, fallback: T, task: () => T): T {
  try {
    return task();
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    verdict.failed(thrown);
    return fallback;
  }
}
