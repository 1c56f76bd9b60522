import type { RecordQuery } from '../record/store.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;
const STATES = ['complete', 'failed', 'aborted', 'running'] as const;
const NAMES = ['limit', 'state', 'key', 'config'];

type QueryRead =
  | { readonly query: RecordQuery; readonly problem?: never }
  | { readonly query?: never; readonly problem: string };

/** What is not understood is refused: a filter that were passed over would answer another question. */
export function readRecordQuery(text: string): QueryRead {
  const params = new URLSearchParams(text);
  const names = [...params.keys()];
  const unknown = names.find((name, index) => !NAMES.includes(name) || names.indexOf(name) < index);
  if (unknown !== undefined)
    return { problem: `\`${unknown.slice(0, 100)}\`: the query may say ${NAMES.join(', ')}, each once.` };
  const limit = params.get('limit') ?? String(DEFAULT_LIMIT);
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT)
    return { problem: `\`limit\` is a number from 1 to ${MAX_LIMIT}.` };
  const [key, config] = [params.get('key'), params.get('config')];
  const asked = params.get('state');
  const state = STATES.find((one) => one === asked);
  if (asked !== null && !state) return { problem: `\`state\` is one of ${STATES.join(', ')}.` };
  return {
    query: {
      limit: Number(limit),
      ...(state && { state }),
      ...(key !== null && { key }),
      ...(config !== null && { config }),
    },
  };
}
