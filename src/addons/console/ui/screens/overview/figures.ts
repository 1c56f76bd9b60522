import type { ApiSchemas, BudgetObject, KeyObject, PlotSeries, ShownEntry } from '../../api/shapes.ts';
import { count, plural } from '../../parts/format.ts';

export const RANGES = { '1h': 3_600_000, '6h': 21_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
export type RangeName = keyof typeof RANGES;

export type PlottedStats = ApiSchemas['stats'];
type ModelSeries = PlottedStats['series'][number];
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
/** Lines of one cause that may be many. */
const MOST = 5;

export interface OverviewState {
  readonly settings: ApiSchemas['settings'] | undefined;
  readonly providers: readonly ShownEntry[];
  readonly keys: readonly KeyObject[];
  readonly budgets: readonly BudgetObject[];
}

const wrong = (tone: Wrong['tone'], text: string, href = '#/'): Wrong => ({ tone, text, href });
const query = (path: string, name: string, value: string): string =>
  `#/${path}?${new URLSearchParams({ [name]: value })}`;

const few = (lines: readonly Wrong[]): readonly Wrong[] =>
  lines.length <= MOST
    ? lines
    : [...lines.slice(0, MOST), wrong(lines[MOST]!.tone, `And ${count(lines.length - MOST)} more like the last one.`)];

type Diagnosed = { readonly file: string; readonly line?: number; readonly message: string };
const atLine = ({ file, line, message }: Diagnosed): string =>
  `${file}${line === undefined ? '' : `:${line}`}: ${message}`;

/** Things that somebody should look at now, the worst first. */
export function wrongOf(
  { settings, providers, keys, budgets }: OverviewState,
  { models, whole }: { readonly models: readonly ModelSeries[]; readonly whole: PlotSeries | undefined },
  now: number,
): readonly Wrong[] {
  const { reload = null, warnings = [] } = settings ?? {};
  const refused = reload?.ok === false ? reload.diagnostics.filter(({ severity }) => severity === 'error') : [];
  return [
    ...few(refused.map((one) => wrong('failed', `The last reload was refused: ${atLine(one)}`))),
    ...(whole ? manyFailed(whole) : []),
    ...few(providers.flatMap(openBreakers)),
    ...few(keys.flatMap((key) => endOf(key, now))),
    ...few(budgets.flatMap(nearlySpent)),
    ...few(models.flatMap((model) => retiring(model, models))),
    ...few(models.filter((model) => total(model, 'unpriced') > 0).map(unpriced)),
    ...few(warnings.map((one) => wrong('warning', atLine(one)))),
  ];
}

/** Fewer requests or calls say nothing. */
const FEW = 4;

function manyFailed(whole: PlotSeries): readonly Wrong[] {
  const [failed, requests] = [total(whole, 'errors'), total(whole, 'requests')];
  if (requests < FEW || failed / requests < 0.2) return [];
  const share = Math.round((failed / requests) * 100);
  return [wrong('failed', `${share} % of the requests have failed.`, query('requests', 'state', 'failed'))];
}

const openBreakers = ({ slug, targets }: ShownEntry): readonly Wrong[] =>
  targets.flatMap(({ config, target, health }) => {
    const href = query('providers', 'entry', slug);
    const open = health.find(({ state }) => state === 'open');
    const weak = health.find(({ failed = 0, of = 0 }) => of >= FEW && failed / of >= 0.5);
    if (!open && weak)
      return [wrong('warning', `${weak.failed} of the last ${weak.of} calls of ${config} to @${slug} failed.`, href)];
    if (!open) return [];
    const last = open.last_error === undefined ? '' : `: ${open.last_error}`;
    const text = `The breaker of ${config} ${target} (@${slug}) is open${last}.`;
    return [wrong('failed', text, href)];
  });

function endOf({ id, spec, state }: KeyObject, now: number): readonly Wrong[] {
  const left = Date.parse(spec.expires_at ?? '') - now;
  if (state !== 'active' || !(left < 7 * DAY_MS)) return [];
  const text = `The key ${id} ends in ${plural(Math.max(0, Math.ceil(left / DAY_MS)), 'day')}.`;
  return [wrong('warning', text, query('keys', 'key', id))];
}

function nearlySpent({ id, node, cap, spent }: BudgetObject): readonly Wrong[] {
  if (spent === null || cap <= 0 || spent / cap < 0.8) return [];
  const share = Math.floor((spent / cap) * 100);
  const href = node.startsWith('key:') ? query('keys', 'key', node.slice(4)) : query('keys', 'node', node);
  return [wrong(share >= 100 ? 'failed' : 'warning', `The budget ${id} of ${node} is at ${share} %.`, href)];
}

function retiring({ retires, ...model }: ModelSeries, all: readonly PlotSeries[]): readonly Wrong[] {
  if (!retires) return [];
  const requests = all.reduce((sum, one) => sum + total(one, 'requests'), 0);
  const share = requests === 0 ? 0 : Math.round((total(model, 'requests') / requests) * 1000) / 10;
  const { day, past, successor } = retires;
  const then = successor === null ? '' : ` Its successor is ${successor}.`;
  const text = `The model ${model.name} ${past ? 'retired on' : 'retires'} ${day} and has ${share} % of the requests.${then}`;
  return [wrong(past ? 'failed' : 'warning', text, query('requests', 'model', model.name))];
}

function unpriced(model: PlotSeries): Wrong {
  const requests = plural(total(model, 'unpriced'), 'request');
  if (model.name === '__other__')
    return wrong(
      'warning',
      `Models of ${requests} have no price: the cost is unknown.`,
      query('requests', 'state', 'complete'),
    );
  const text = `The model ${model.name} has no price: the cost of ${requests} is unknown.`;
  return wrong('warning', text, query('requests', 'model', model.name));
}

/** Steps that a new gateway needs, and whether each is done. */
export const firstSteps = (requests: number, { providers, keys }: Pick<OverviewState, 'providers' | 'keys'>) => ({
  send: requests > 0,
  connect: providers.some(({ provider }) => provider !== 'simulator'),
  key: keys.some(({ id }) => id !== 'demo'),
});
