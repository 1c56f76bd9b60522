import type { FormatName } from '../formats/conversation.ts';
import type { SendJob } from './send-job.ts';

/**
 * Headers with the limits of the account whose credential the request had. `anthropic-priority-` are those of a priority tier
 * (docs/protocols/anthropic-messages.md#headers).
 */
const OPENAI = /^x-ratelimit-/;
const ANTHROPIC = /^anthropic-(?:ratelimit|priority)-/;

/** The spelling of OpenAI's APIs, or of the Messages API. Gemini's API has no such headers. */
type Dialect = 'openai' | 'messages';

const dialectOf = (format: FormatName | undefined): Dialect | undefined => {
  if (format === undefined || format === 'gemini') return undefined;
  return format === 'anthropic-messages' ? 'messages' : 'openai';
};

/** Names of the same limit in both APIs. `{}` is its part: limit, remaining or reset. */
const SAME: readonly Readonly<Record<Dialect, string>>[] = ['requests', 'tokens'].map((what) => ({
  openai: `x-ratelimit-{}-${what}`,
  messages: `anthropic-ratelimit-${what}-{}`,
}));
const PARTS = ['limit', 'remaining', 'reset'] as const;

const isRateLimit = (name: string): boolean => OPENAI.test(name) || ANTHROPIC.test(name);

/** The limits in a reply to a request that had the caller's own token; undefined for the gateway's credential. */
export function limitHeaders(
  headers: Readonly<Record<string, string>>,
  { exchange, attempt: { resolved }, setup }: SendJob,
): Record<string, string> | undefined {
  if (!resolved?.usesCallersToken) return undefined;
  const client = exchange.operation?.format.name;
  return callersLimits(headers, { client, upstream: resolved.format, now: setup.clock.wall() });
}

interface LimitSource {
  readonly client: FormatName | undefined;
  readonly upstream: FormatName;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * The limits of the caller's own account, as the client's API spells them. Limits that only the other API has are left out,
 * and all of them for an API without such headers.
 */
export function callersLimits(
  headers: Readonly<Record<string, string>>,
  { client, upstream, now }: LimitSource,
): Record<string, string> {
  const [from, to] = [dialectOf(upstream), dialectOf(client)];
  if (from === to) return Object.fromEntries(Object.entries(headers).filter(([name]) => isRateLimit(name)));
  if (!from || !to) return {};
  const limits: Record<string, string> = {};
  for (const same of SAME) {
    for (const part of PARTS) {
      const value = headers[same[from].replace('{}', part)];
      const written = value !== undefined && part === 'reset' ? resetFor(to, value, now) : value;
      if (written !== undefined) limits[same[to].replace('{}', part)] = written;
    }
  }
  return limits;
}

/** Anthropic's API has the time of the reset (RFC 3339), OpenAI's the duration until then (`6m0s`, `20ms`). */
function resetFor(to: Dialect, value: string, now: number): string | undefined {
  if (to === 'openai') {
    const at = Date.parse(value);
    return Number.isNaN(at) ? undefined : `${Math.max(0, Math.ceil((at - now) / 1000))}s`;
  }
  const ms = durationOf(value);
  return ms === undefined
    ? undefined
    : new Date(Math.ceil((now + ms) / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:d|h|ms|m|s))+$/;

function durationOf(text: string): number | undefined {
  if (text.length > 60 || !DURATION.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(d|h|ms|m|s)/g)];
  const ms = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit!]!, 0);
  return ms < UNITS['d']! * 3650 ? ms : undefined;
}
