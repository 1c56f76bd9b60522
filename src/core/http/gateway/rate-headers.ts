import type { FormatName } from '../../../formats/conversation.ts';
import { RATE_DIALECTS, RATE_KINDS } from '../../../formats/rate-headers.ts';
import type { RateFigures } from '../../kernel/rate-limits.ts';

/** Writes the caller's limits into the headers of a reply, as the client's API spells them. */
export function setRateHeaders(
  headers: Record<string, string>,
  figures: RateFigures,
  { format, wall }: { readonly format: FormatName; readonly wall: number },
): void {
  const dialect = RATE_DIALECTS[format];
  if (!dialect) return;
  for (const of of RATE_KINDS) {
    const figure = figures[of];
    if (!figure) continue;
    headers[dialect.name('limit', of)] = String(figure.limit);
    headers[dialect.name('remaining', of)] = String(figure.remaining);
    headers[dialect.name('reset', of)] = dialect.writeReset(figure.resetMs, wall);
  }
}
