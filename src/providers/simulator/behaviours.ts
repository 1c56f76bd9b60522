/** The behaviour that a model name selects. */
export type Behaviour =
  | { readonly kind: 'answer' }
  | { readonly kind: 'fast'; readonly writes: 'one' | 'each' }
  | { readonly kind: 'error'; readonly status: number; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'flaky'; readonly failures: number }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'slow-content'; readonly ms: number }
  | { readonly kind: 'drip'; readonly ms: number }
  | { readonly kind: 'cut'; readonly after: number }
  | { readonly kind: 'stall'; readonly after: number }
  | { readonly kind: 'error-midstream' };

interface Rule {
  /** The notation in the README's table. */
  readonly name: string;
  readonly pattern: RegExp;
  readonly read: (numbers: readonly (number | undefined)[]) => Behaviour;
}

const DEFAULT_RETRY_AFTER_MS: Readonly<Record<number, number>> = { 429: 1_000 };
const DEFAULT_CUT = 2;

/** All names with a special behaviour; every other name answers normally. Numbers are short, so no delay exceeds 1,000 s. */
export const RULES: readonly Rule[] = [
  { name: 'sim-fast', pattern: /^sim-fast$/, read: () => ({ kind: 'fast', writes: 'one' }) },
  { name: 'sim-fast-each', pattern: /^sim-fast-each$/, read: () => ({ kind: 'fast', writes: 'each' }) },
  { name: 'sim-error-midstream', pattern: /^sim-error-midstream$/, read: () => ({ kind: 'error-midstream' }) },
  {
    name: 'sim-error-<status>',
    pattern: /^sim-error-([45][0-9]{2})$/,
    read: ([status = 500]) => ({ kind: 'error', status, retryAfterMs: DEFAULT_RETRY_AFTER_MS[status] }),
  },
  {
    name: 'sim-error-<status>-<ms>',
    pattern: /^sim-error-([45][0-9]{2})-([0-9]{1,6})$/,
    read: ([status = 500, retryAfterMs]) => ({ kind: 'error', status, retryAfterMs }),
  },
  {
    name: 'sim-flaky-<n>',
    pattern: /^sim-flaky-([0-9]{1,3})$/,
    read: ([failures = 0]) => ({ kind: 'flaky', failures }),
  },
  { name: 'sim-slow-<ms>', pattern: /^sim-slow-([0-9]{1,6})$/, read: ([ms = 0]) => ({ kind: 'slow', ms }) },
  {
    name: 'sim-slow-content-<ms>',
    pattern: /^sim-slow-content-([0-9]{1,6})$/,
    read: ([ms = 0]) => ({ kind: 'slow-content', ms }),
  },
  { name: 'sim-drip-<ms>', pattern: /^sim-drip-([0-9]{1,6})$/, read: ([ms = 0]) => ({ kind: 'drip', ms }) },
  { name: 'sim-cut', pattern: /^sim-cut$/, read: () => ({ kind: 'cut', after: DEFAULT_CUT }) },
  { name: 'sim-cut-<n>', pattern: /^sim-cut-([0-9]{1,4})$/, read: ([after = 0]) => ({ kind: 'cut', after }) },
  { name: 'sim-stall-<n>', pattern: /^sim-stall-([0-9]{1,4})$/, read: ([after = 0]) => ({ kind: 'stall', after }) },
];

const ANSWER: Behaviour = { kind: 'answer' };

export function readBehaviour(model: string): Behaviour {
  if (!model.startsWith('sim-')) return ANSWER;
  for (const { pattern, read } of RULES) {
    const match = pattern.exec(model);
    if (match) return read(match.slice(1).map(Number));
  }
  return ANSWER;
}
