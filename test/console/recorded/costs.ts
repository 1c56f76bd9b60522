const NAMES: Readonly<Record<string, readonly string[]>> = {
  team: ['search', 'interns', ''],
  key: ['search', 'batch', 'nightly-reports'],
  model: ['claude-sonnet-4-5', 'gemini-2.5-pro', 'gemini-2.5-flash'],
  provider: ['vertex', 'anthropic'],
  'label.env': ['prod', 'test', ''],
};
const MONTH = '2026-11';

const rowOf = (names: object, nano: number, more: object = {}) => ({
  start: `${MONTH}-01T00:00:00.000Z`,
  ...names,
  requests: Math.round(nano / 2e6),
  attempts: Math.round(nano / 2e6) + 3,
  hits: 2,
  input: Math.round(nano / 3000),
  cacheRead: Math.round(nano / 4000),
  ...Object.fromEntries(
    ['cacheWrite5m', 'cacheWrite1h', 'reasoning', 'inputAudio', 'outputAudio'].map((sum) => [sum, 0]),
  ),
  ...Object.fromEntries(['inputImage', 'outputImage', 'units', 'searches'].map((sum) => [sum, 0])),
  output: Math.round(nano / 15_000),
  nano,
  cost_usd: String(nano / 1e9),
  saturated: [],
  ms: [],
  first_ms: [],
  ...more,
});

const named = (by: string, name: string): object =>
  by.startsWith('label.') ? { labels: { [by.slice('label.'.length)]: name } } : { [by]: name };

const dayNano = (day: number, place: number): number =>
  Math.round(((3 + 2 * Math.sin(day / 3) + (day % 5)) * 1e9) / (place + 1) ** 2);

const DAYS = Array.from({ length: 28 }, (_, index) => index + 1);
const whole = (place: number): number => DAYS.reduce((sum, day) => sum + dayNano(day, place), 0);

/** A day of November; the first five are those of UTC. */
function dayRow(day: number, names: object, nano: number) {
  const date = `${MONTH}-${String(day).padStart(2, '0')}`;
  return rowOf(names, nano, { start: `${date}T00:00:00.000Z`, date, day: day <= 5 ? 'utc' : 'zone' });
}

/** What `GET /usage` answers. @param names in place of those of the dimension */
export function usage(query: URLSearchParams, names?: readonly string[]): object {
  const by = query.get('by') ?? '';
  const all = names ?? NAMES[by || 'team'] ?? [''];
  if (query.get('src') === 'none')
    return { items: [rowOf({ provider: 'simulator', model: 'sim-steady' }, 0, { attempts: 12, requests: 12 })] };
  if (query.get('step') === 'all') {
    const isNow = query.get('from')?.startsWith(MONTH);
    const rows = all.map((name, place) => rowOf(named(by, name), isNow ? whole(place) : 9e10 / (place + 1)));
    return { items: isNow ? rows : rows.slice(0, 2) };
  }
  if (by === '')
    return {
      items: DAYS.map((day) =>
        dayRow(
          day,
          {},
          all.reduce((sum, _, place) => sum + dayNano(day, place), 0),
        ),
      ),
    };
  const dearest = all.slice(0, 6);
  return {
    items: DAYS.flatMap((day) => dearest.map((name, place) => dayRow(day, named(by, name), dayNano(day, place)))),
  };
}

const example = (cause: string, after: number | null, at: number) => ({ cause, request_id: `r-${at}`, after });

export const promptCache = {
  prefix_hashes: true,
  examined: 1840,
  since: '2026-11-27T18:00:00Z',
  more: false,
  items: [
    {
      key: 'search',
      model: 'claude-sonnet-4-5',
      requests: 1200,
      input: 14_200_000,
      cache_read: 12_100_000,
      cache_write: 900_000,
      misses: 36,
      causes: { tools: 21, pause: 12, first: 3 },
      examples: [example('first', null, 0), example('tools', 2048, 1), example('pause', null, 2)],
    },
    {
      key: 'batch',
      model: 'gemini-2.5-pro',
      requests: 640,
      input: 3_100_000,
      cache_read: 310_000,
      cache_write: 0,
      misses: 512,
      causes: { system: 480, key_order: 20, target: 12 },
      examples: [example('system', 0, 3), example('key_order', null, 4), example('target', null, 5)],
    },
  ],
};
