import type { FormatName } from '../formats/conversation.ts';
import { LIMIT_KINDS, type RateFigure, type RateFigures } from '../plugin/index.ts';

/** How one API names the limits of a caller. */
interface Dialect {
  name(part: 'limit' | 'remaining' | 'reset', of: string): string;
  reset(ms: number, wall: number): string;
}

/** A duration: `1.2s` (docs/protocols/openai-chat.md#rate-limit-headers). */
const OPENAI: Dialect = {
  name: (part, of) => `x-ratelimit-${part}-${of}`,
  reset: (ms) => `${Math.ceil(ms) / 1000}s`,
};

/** A time of RFC 3339 in whole seconds (docs/protocols/anthropic-messages.md#headers). */
const MESSAGES: Dialect = {
  name: (part, of) => `anthropic-ratelimit-${of}-${part}`,
  reset: (ms, wall) => `${new Date(Math.ceil((wall + ms) / 1000) * 1000).toISOString().slice(0, -5)}Z`,
};

/** Gemini's API has no such headers. */
const DIALECTS: Readonly<Record<FormatName, Dialect | undefined>> = {
  'openai-chat': OPENAI,
  'openai-responses': OPENAI,
  'anthropic-messages': MESSAGES,
  gemini: undefined,
};

/** Writes the caller's limits into the headers of a reply, as the client's API spells them. */
export function setRateHeaders(
  headers: Record<string, string>,
  figures: RateFigures,
  { format, wall }: { readonly format: FormatName; readonly wall: number },
): void {
  const dialect = DIALECTS[format];
  if (!dialect) return;
  for (const of of LIMIT_KINDS) {
    const figure: RateFigure | undefined = of === 'concurrency' ? undefined : figures[of];
    if (!figure) continue;
    headers[dialect.name('limit', of)] = String(figure.limit);
    headers[dialect.name('remaining', of)] = String(figure.remaining);
    headers[dialect.name('reset', of)] = dialect.reset(figure.resetMs, wall);
  }
}
