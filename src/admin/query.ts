import type { RecordQuery } from '../record/store.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;
const STATES = ['complete', 'failed', 'aborted', 'running'] as const;
const NAMES = ['limit', 'state', 'key', 'config'];

type QueryRead =
  | { readonly query: RecordQuery; readonly problem?: never }
  | { readonly query?: never; readonly problem: string };

/** Reads the query. Unknown parameters are refused: with an ignored filter the reply would answer another question. */
export function readRecordQuery(text: string): QueryRead {
  const params = new URLSearchParams(text);
  const names = [...params.keys()];
  const unknown = names.find((name, index) => !NAMES.includes(name) || names.indexOf(name) < index);
  if (unknown !== undefined)
    return { problem: `\`${unknown.slice(0, 100)}\`: the query may have ${NAMES.join(', ')}, each once.` };
  const limit = params.get('limit') ?? String(DEFAULT_LIMIT);
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT)
    return { problem: `\`limit\` must be a number from 1 to ${MAX_LIMIT}.` };
  const [key, config] = [params.get('key'), params.get('config')];
  const wanted = params.get('state');
  const state = STATES.find((one) => one === wanted);
  if (wanted !== null && !state) return { problem: `\`state\` must be one of ${STATES.join(', ')}.` };
  return {
    query: {
      limit: Number(limit),
      ...(state && { state }),
      ...(key !== null && { key }),
      ...(config !== null && { config }),
    },
  };
}
