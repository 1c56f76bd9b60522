import type { ApiSchemas, BudgetObject, KeyObject, PlotSeries, ShownEntry } from '../../api/shapes.ts';
import { plural } from '../../parts/format.ts';

export const RANGES = { '1h': 3_600_000, '6h': 21_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
export type RangeName = keyof typeof RANGES;

export type PlottedStats = ApiSchemas['stats'];
type Counted = Exclude<keyof PlotSeries, 'name' | 'p50_ms' | 'p95_ms' | 'first_p95_ms'>;

export const total = (series: PlotSeries, name: Counted): number => series[name].reduce((sum, value) => sum + value, 0);

/** All series as one: the sums of counts. Durations cannot be added, so they come from a call without `by`. */
export const wholeOf = ({ series, other }: PlottedStats): PlotSeries | undefined => series[0] ?? other ?? undefined;

export interface Top {
  readonly name: string;
  readonly requests: number;
  readonly errors: number;
  readonly usd: number;
}

export function topOf(stats: PlottedStats, by: 'requests' | 'errors' | 'usd', most = 6): readonly Top[] {
  return stats.series
    .map((one) => ({
      name: one.name,
      requests: total(one, 'requests'),
      errors: total(one, 'errors'),
      usd: total(one, 'nano') / 1e9,
    }))
    .filter((one) => one[by] > 0)
    .toSorted((one, other) => other[by] - one[by])
    .slice(0, most);
}

export const highestOf = (values: readonly (number | null)[]): number | undefined => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? undefined : Math.max(...known);
};

/** Seconds since 1970 of the start of each step. */
export const timesOf = ({ since, step_s: step, points }: Omit<PlottedStats, 'series'>): readonly number[] =>
  Array.from({ length: points }, (_, index) => Date.parse(since) / 1000 + index * step);

export interface PlotRow {
  readonly at: number;
  readonly values: readonly (number | null)[];
}

const MAX_TABLE = 24;

/** A plot as a table of few rows: counts are added, of times the highest stays. */
export function tableOf(
  times: readonly number[],
  lines: readonly (readonly (number | null)[])[],
  add: boolean,
): readonly PlotRow[] {
  const size = Math.max(1, Math.ceil(times.length / MAX_TABLE));
  return Array.from({ length: Math.ceil(times.length / size) }, (_, row) => ({
    at: times[row * size] ?? 0,
    values: lines.map((line) => {
      const part = line.slice(row * size, (row + 1) * size);
      if (!add) return highestOf(part) ?? null;
      return part.reduce<number>((sum, value) => sum + (value ?? 0), 0);
    }),
  }));
}

export interface Wrong {
  readonly tone: 'failed' | 'warning';
  readonly text: string;
  readonly href: string;
}

const DAY_MS = 86_400_000;

export interface OverviewState {
  readonly settings: ApiSchemas['settings'] | undefined;
  readonly providers: readonly ShownEntry[];
  readonly keys: readonly KeyObject[];
  readonly budgets: readonly BudgetObject[];
}

/** Named in the list of what is wrong; the table of the models has all. */
const MAX_UNPRICED = 5;

/** Things that somebody should look at now, the worst first. */
export function wrongOf(
  { settings, providers, keys, budgets }: OverviewState,
  models: readonly PlotSeries[],
  now: number,
): readonly Wrong[] {
  const reload = settings?.reload;
  const refused = reload?.ok === false ? reload.diagnostics.filter(({ severity }) => severity === 'error') : [];
  return [
    ...refused.map(({ file, line, message }): Wrong => ({
      tone: 'failed',
      text: `The last reload was refused: ${file}${line === undefined ? '' : `:${line}`}: ${message}`,
      href: '#/',
    })),
    ...providers.flatMap(({ slug, targets }) =>
      targets
        .filter(({ health }) => health.some(({ state }) => state === 'open'))
        .map(({ config, target, health }): Wrong => {
          const open = health.find(({ state }) => state === 'open');
          return {
            tone: 'failed',
            text: `The breaker of ${config} ${target} (@${slug}) is open${open?.last_error === undefined ? '' : `: ${open.last_error}`}.`,
            href: `#/providers?entry=${encodeURIComponent(slug)}`,
          };
        }),
    ),
    ...keys.flatMap(({ id, spec, state }): readonly Wrong[] => {
      const ends = Date.parse(String(Object(spec).expires_at ?? ''));
      if (state !== 'active' || !(ends - now < 7 * DAY_MS)) return [];
      return [
        {
          tone: 'warning',
          text: `The key ${id} ends in ${Math.max(0, Math.ceil((ends - now) / DAY_MS))} days.`,
          href: `#/keys?key=${encodeURIComponent(id)}`,
        },
      ];
    }),
    ...budgets.flatMap(({ id, node, cap, spent }): readonly Wrong[] => {
      if (spent === null || cap <= 0 || spent / cap < 0.8) return [];
      const share = Math.floor((spent / cap) * 100);
      return [
        {
          tone: share >= 100 ? 'failed' : 'warning',
          text: `The budget ${id} of ${node} is at ${share} %.`,
          href: node.startsWith('key:')
            ? `#/keys?key=${encodeURIComponent(node.slice(4))}`
            : `#/keys?node=${encodeURIComponent(node)}`,
        },
      ];
    }),
    ...models
      .filter((model) => total(model, 'unpriced') > 0)
      .slice(0, MAX_UNPRICED)
      .map((model): Wrong => ({
        tone: 'warning',
        text: `The model ${model.name} has no price: the cost of ${plural(total(model, 'unpriced'), 'request')} is unknown.`,
        href: `#/requests?model=${encodeURIComponent(model.name)}`,
      })),
    ...(settings?.warnings ?? []).slice(0, 5).map(({ file, line, message }): Wrong => ({
      tone: 'warning',
      text: `${file}${line === undefined ? '' : `:${line}`}: ${message}`,
      href: '#/',
    })),
  ];
}

/** Steps that a new gateway needs, and whether each is done. */
export const firstSteps = (requests: number, { providers, keys }: Pick<OverviewState, 'providers' | 'keys'>) => ({
  send: requests > 0,
  connect: providers.some(({ provider }) => provider !== 'simulator'),
  key: keys.some(({ id }) => id !== 'demo'),
});
