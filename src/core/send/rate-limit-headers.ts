import type { FormatName } from '../../formats/conversation.ts';
import { isRateHeader, RATE_DIALECTS, RATE_KINDS, RATE_PARTS, type RateDialect } from '../../formats/rate-headers.ts';
import type { SendJob } from './send-job.ts';

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

/** As the client's API spells them. Limits that only the other API has are left out. */
export function callersLimits(
  headers: Readonly<Record<string, string>>,
  { client, upstream, now }: LimitSource,
): Record<string, string> {
  const [from, to] = [RATE_DIALECTS[upstream], client && RATE_DIALECTS[client]];
  if (from === to) return Object.fromEntries(Object.entries(headers).filter(([name]) => isRateHeader(name)));
  if (!from || !to) return {};
  const limits: Record<string, string> = {};
  for (const of of RATE_KINDS) {
    for (const part of RATE_PARTS) {
      const value = headers[from.name(part, of)];
      const written = value !== undefined && part === 'reset' ? resetFor(value, { from, to, now }) : value;
      if (written !== undefined) limits[to.name(part, of)] = written;
    }
  }
  return limits;
}

function resetFor(
  value: string,
  { from, to, now }: { readonly from: RateDialect; readonly to: RateDialect; readonly now: number },
): string | undefined {
  const ms = from.readReset(value, now);
  return ms === undefined ? undefined : to.writeReset(ms, now);
}
