import { cacheRows, type CachedRequest } from '../prompt-cache.ts';
import type { Call, Handler } from '../call.ts';
import type { RecordQuery } from '../../../../core/record/record-query.ts';
import { valueAt } from '../../../../core/settings/schema/pointer.ts';
import { recordQuery } from './requests.ts';

const PAGE = 1000;
/** Requests that an answer is made of: beyond them the latest count. */
const MOST = 20_000;
const MOST_ROWS = 1000;

export const showPromptCache: Handler = async (call) => {
  const { settings, query, clock } = call;
  const { lines, more } = await latest(call, { ...recordQuery(query, clock.wall()), state: 'complete', limit: PAGE });
  const rows = cacheRows(lines);
  return {
    body: {
      prefix_hashes: valueAt(settings.server, ['telemetry', 'prefix_hashes']) === true,
      examined: lines.length,
      since: lines.at(-1)?.time ?? null,
      more,
      items: rows.slice(0, MOST_ROWS),
    },
  };
};

interface Latest {
  readonly lines: readonly CachedRequest[];
  /** There are earlier ones, which are left out. */
  readonly more: boolean;
}

async function latest({ records, console }: Call, query: RecordQuery): Promise<Latest> {
  const lines: CachedRequest[] = [];
  let after: RecordQuery['after'];
  for (;;) {
    const asked = { ...query, ...(after && { after }) };
    const page = await (console?.kept?.page(asked, records) ?? records.page(asked));
    // Lines of records of this gateway.
    lines.push(...page.lines.map(({ line }) => line as CachedRequest));
    after = page.last ?? page.lines.at(-1)?.place;
    if (!page.more || after === undefined) return { lines, more: false };
    if (lines.length >= MOST) return { lines, more: true };
  }
}
