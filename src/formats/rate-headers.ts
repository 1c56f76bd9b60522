import type { FormatName } from './conversation.ts';

type RatePart = 'limit' | 'remaining' | 'reset';
export const RATE_PARTS = ['limit', 'remaining', 'reset'] as const satisfies readonly RatePart[];
/** The limits that have headers. */
export const RATE_KINDS = ['requests', 'tokens'] as const;

/** How an API names limits in the headers of its replies. */
export interface RateDialect {
  name(part: RatePart, of: (typeof RATE_KINDS)[number]): string;
  /** @param ms until the reset @param wall milliseconds since 1970 */
  writeReset(ms: number, wall: number): string;
  /** Milliseconds until the reset; undefined for a text that is none. */
  readReset(text: string, wall: number): number | undefined;
  /** Headers by which clients know an exhausted budget. */
  readonly exhausted?: ((budget: ExhaustedBudget) => Readonly<Record<string, string>>) | undefined;
  /** Headers of a refusal because the budget cannot be checked at the moment. */
  readonly unchecked?: Readonly<Record<string, string>> | undefined;
  /** Headers of a good reply that show how much of the caller's own budget is spent. */
  readonly spent?: ((budget: SpentBudget) => Readonly<Record<string, string>>) | undefined;
}

interface BudgetPeriod {
  /** Milliseconds since 1970; undefined: never. */
  readonly resetsAt: number | undefined;
}

interface ExhaustedBudget extends BudgetPeriod {
  /** `day`, `week`, `month`. Clients have no name for others. */
  readonly period: string;
  /** Others share the budget. */
  readonly isShared: boolean;
  /** Milliseconds since 1970. */
  readonly wall: number;
}

interface SpentBudget extends BudgetPeriod {
  /** The spent share of the cap. */
  readonly share: number;
}

/** A duration: `1.2s`, `6m0s`, `20ms` (docs/protocols/openai-chat.md#rate-limit-headers). */
const OPENAI: RateDialect = {
  name: (part, of) => `x-ratelimit-${part}-${of}`,
  writeReset: (ms) => `${Math.ceil(ms) / 1000}s`,
  readReset: (text) => durationOf(text),
};

const UNIFIED = 'anthropic-ratelimit-unified';
const OVERAGE = `${UNIFIED}-overage`;
/** Shares of a cap at which Claude Code warns its user. */
const THRESHOLDS = [0.95, 0.75];
/** The largest share that a reply to an allowed request shows. */
const MOST_SHARE = 0.99;
const PERIODS: ReadonlyMap<string, string> = new Map([
  ['day', 'daily'],
  ['week', 'weekly'],
  ['month', 'monthly'],
]);

function resets({ resetsAt }: BudgetPeriod): Readonly<Record<string, string>> {
  if (resetsAt === undefined) return {};
  const seconds = String(Math.ceil(resetsAt / 1000));
  return { [`${UNIFIED}-reset`]: seconds, [`${OVERAGE}-reset`]: seconds };
}

/** A time of RFC 3339 in whole seconds (docs/protocols/anthropic-messages.md#headers). */
const MESSAGES: RateDialect = {
  name: (part, of) => `anthropic-ratelimit-${of}-${part}`,
  writeReset: (ms, wall) => `${new Date(Math.ceil((wall + ms) / 1000) * 1000).toISOString().slice(0, -5)}Z`,
  readReset(text, wall) {
    const at = Date.parse(text);
    return Number.isNaN(at) ? undefined : Math.max(0, at - wall);
  },
  // docs/protocols/claude-code.md#refusals
  exhausted(budget) {
    const { resetsAt, isShared, wall } = budget;
    const period = PERIODS.get(budget.period);
    return {
      [`${UNIFIED}-status`]: 'rejected',
      ...resets(budget),
      [`${OVERAGE}-utilization`]: '1',
      [`${OVERAGE}-surpassed-threshold`]: '1',
      ...(period !== undefined && { [`${OVERAGE}-period`]: period }),
      [`${OVERAGE}-disabled-reason`]: 'org_spend_cap_reached',
      ...(isShared && { [`${OVERAGE}-scope`]: 'group_pool' }),
      ...(resetsAt !== undefined && { 'retry-after': String(Math.max(1, Math.ceil((resetsAt - wall) / 1000))) }),
    };
  },
  // The protocol of `claude gateway` adds `x-should-retry: false`, which would end the retries of Anthropic's SDK
  // (docs/protocols/claude-code.md#unchecked-budget).
  unchecked: { [`${OVERAGE}-disabled-reason`]: 'fetch_error' },
  spent(budget) {
    const { share } = budget;
    const threshold = THRESHOLDS.find((one) => share > one);
    const status = threshold === undefined ? 'allowed' : 'allowed_warning';
    return {
      [`${UNIFIED}-status`]: status,
      [`${UNIFIED}-representative-claim`]: 'overage',
      ...resets(budget),
      [`${OVERAGE}-status`]: status,
      [`${OVERAGE}-utilization`]: String(Math.min(MOST_SHARE, Math.round(share * 100) / 100)),
      ...(threshold !== undefined && { [`${OVERAGE}-surpassed-threshold`]: String(threshold) }),
    };
  },
};

/** Gemini's API has no such headers. */
export const RATE_DIALECTS: Readonly<Record<FormatName, RateDialect | undefined>> = {
  'openai-chat': OPENAI,
  'openai-responses': OPENAI,
  'anthropic-messages': MESSAGES,
  gemini: undefined,
};

/** Headers with limits of an account, of any API (docs/protocols/anthropic-messages.md#headers). */
export const isRateHeader = (name: string): boolean => /^(?:x-ratelimit-|anthropic-(?:ratelimit|priority)-)/.test(name);

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:d|h|ms|m|s))+$/;
const MOST_MS = UNITS['d']! * 3650;

function durationOf(text: string): number | undefined {
  if (text.length > 60 || !DURATION.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(d|h|ms|m|s)/g)];
  const ms = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit!]!, 0);
  return ms < MOST_MS ? ms : undefined;
}
