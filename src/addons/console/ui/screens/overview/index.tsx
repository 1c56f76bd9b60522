import { useEffect, useMemo } from 'preact/hooks';
import { onLines, session, settingsTurn, useLoad } from '../../api/index.ts';
import type { ApiSchemas, PlotSeries } from '../../api/shapes.ts';
import { go } from '../../address.ts';
import { count, moment, ms, short, usd } from '../../parts/format.ts';
import { Figures } from '../../parts/facts.tsx';
import { Head } from '../../parts/head.tsx';
import { tabOf, Tabs } from '../../parts/segments.tsx';
import { Loads, Problem } from '../../parts/states.tsx';
import { Plot, type PlotLine, type PlotProps } from '../../parts/plot.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import {
  firstSteps,
  highestOf,
  type OverviewState,
  type PlottedStats,
  type RangeName,
  RANGES,
  tableOf,
  timesOf,
  topOf,
  total,
  wholeOf,
  type Wrong,
  wrongOf,
} from './figures.ts';
import { FirstSteps } from './first-steps.tsx';
import { loadOverview, loadState, type OverviewStats } from './load.ts';
import { Grid } from '../../parts/grid.tsx';

const REFRESH_MS = 15_000;

const TABS = (Object.keys(RANGES) as RangeName[]).map((name) => [name, name] as const);

/** How the gateway does, and what is wrong with it. */
export function Overview() {
  const range = tabOf(TABS, 'range');
  const stats = useLoad(range, (signal) => loadOverview(range, signal));
  const state = useLoad('state', loadState, settingsTurn.value);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && stats.reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const isEmpty = stats.state.value.data?.whole.series.length === 0;
  // The first request is seen at once.
  useEffect(() => (isEmpty ? onLines(() => stats.reload()) : undefined), [isEmpty]);
  return (
    <>
      <Head title="Overview" actions={<Tabs label="Time" of={TABS} member="range" />} />
      <div class="body stack">
        <Loads of={stats}>{(found) => <Watched stats={found} state={state.state.value.data} />}</Loads>
        {state.state.value.error && <Problem error={state.state.value.error} retry={state.reload} />}
      </div>
    </>
  );
}

function Watched({ stats, state }: { readonly stats: OverviewStats; readonly state: OverviewState | undefined }) {
  const whole = wholeOf(stats.whole);
  const requests = whole ? total(whole, 'requests') : 0;
  const steps = state && firstSteps(requests, state);
  return (
    <div class="stack overview">
      {steps && Object.values(steps).includes(false) && <FirstSteps done={steps} />}
      {state && <WrongNow wrong={wrongOf(state, { models: stats.models.series, whole }, Date.now())} />}
      {whole && requests > 0 && <Figures of={figuresOf(whole)} layout="six" />}
      {whole && requests > 0 && <Plots stats={stats.whole} whole={whole} />}
      {requests > 0 && <Since stats={stats.whole} />}
      {requests > 0 && (
        <div class="cards three">
          <TopList title="Keys by spend" filter="key" by="usd" stats={stats.keys} none="No request had a price." />
          <TopList
            title="Models by requests"
            filter="model"
            by="requests"
            stats={stats.models}
            none="No model was called."
          />
          <TopList title="Keys by failures" filter="key" by="errors" stats={stats.keys} none="No request failed." />
          <TopList title="Errors" filter="error" by="errors" stats={stats.errors} none="No request failed." />
        </div>
      )}
    </div>
  );
}

/** Counts of this process begin later than the range that was asked for. */
function Since({ stats: { since, complete_since: complete } }: { readonly stats: ApiSchemas['stats'] }) {
  if (complete === null || Date.parse(complete) <= Date.parse(since)) return null;
  if (session.value?.features.store !== false)
    return <p class="third">Nothing before {moment(complete)} is counted in these steps.</p>;
  return <TurnOn feature="store">Nothing before {moment(complete)} is counted. Keep counts in a store</TurnOn>;
}

function WrongNow({ wrong }: { readonly wrong: readonly Wrong[] }) {
  if (wrong.length === 0)
    return <p class="notice ok">Nothing is wrong now: settings, requests, targets, keys, budgets and prices.</p>;
  return (
    <section class="stack tight" aria-label="What is wrong now">
      <h2>What is wrong now</h2>
      {wrong.map(({ tone, text, href }, index) => (
        <p key={index} class={`notice ${tone} row`}>
          <span class="grow">{text}</span>
          {href !== '#/' && <a href={href}>Look</a>}
        </p>
      ))}
    </section>
  );
}

function figuresOf(whole: PlotSeries): Parameters<typeof Figures>[0]['of'] {
  const requests = total(whole, 'requests');
  const errors = total(whole, 'errors');
  return [
    ['requests', count(requests)],
    ['failed', `${count(errors)} (${requests === 0 ? 0 : Math.round((errors / requests) * 1000) / 10} %)`],
    ['rescued', count(total(whole, 'rescued'))],
    ['p95, highest', ms(highestOf(whole.p95_ms))],
    ['tokens in → out', `${short(total(whole, 'tokens_in'))} → ${short(total(whole, 'tokens_out'))}`],
    // A model without a price adds nothing: no spend is not known to be none.
    ['spend', usd(total(whole, 'nano') / 1e9 || undefined)],
  ];
}

/** The requests of one step. */
function openStep(at: number, step: number): void {
  const query = new URLSearchParams({
    since: new Date(at * 1000).toISOString(),
    until: new Date((at + step) * 1000).toISOString(),
  });
  go(`#/requests?${query}`);
}

interface PlotSpec extends Pick<PlotProps, 'unit'> {
  readonly title: string;
  readonly add: boolean;
  readonly lines: readonly (Omit<PlotLine, 'values'> & { readonly of: Exclude<keyof PlotSeries, 'name'> })[];
}

const PLOTS: readonly PlotSpec[] = [
  {
    title: 'Requests',
    add: true,
    unit: short,
    lines: [
      { label: 'requests', tone: 'accent', of: 'requests', filled: true },
      { label: 'failed', tone: 'failed', of: 'errors' },
    ],
  },
  {
    title: 'Duration',
    add: false,
    unit: ms,
    lines: [
      { label: 'p95', tone: 'accent', of: 'p95_ms' },
      { label: 'p50', tone: 'ok', of: 'p50_ms' },
    ],
  },
  { title: 'First content', add: false, unit: ms, lines: [{ label: 'p95', tone: 'accent', of: 'first_p95_ms' }] },
  {
    title: 'Rescued and cached',
    add: true,
    unit: short,
    lines: [
      { label: 'rescued', tone: 'warning', of: 'rescued' },
      { label: 'cached', tone: 'ok', of: 'cached' },
    ],
  },
  {
    title: 'Spend',
    add: true,
    unit: (nano) => usd(nano / 1e9),
    lines: [{ label: 'spend', tone: 'accent', of: 'nano', filled: true }],
  },
];

function Plots({ stats, whole }: { readonly stats: ApiSchemas['stats']; readonly whole: PlotSeries }) {
  const plots = useMemo(
    () =>
      PLOTS.map(({ lines, ...plot }) => ({
        ...plot,
        times: timesOf(stats),
        lines: lines.map(({ of, ...line }) => ({ ...line, values: whole[of] })),
      })),
    [stats, whole],
  );
  return (
    <div class="cards">
      {plots.map((plot) => (
        <PlotCard key={plot.title} {...plot} onPick={(at) => openStep(at, stats.step_s)} />
      ))}
    </div>
  );
}

interface TopProps {
  readonly title: string;
  readonly filter: string;
  readonly by: 'usd' | 'requests' | 'errors';
  readonly stats: PlottedStats;
  readonly none: string;
}

/** Names that stand for no value of a request: models that only metrics join, and values that were too many. */
const NO_FILTER: ReadonlySet<string> = new Set(['', '__other__', 'other']);

function TopList({ title, filter, by, stats, none }: TopProps) {
  const tops = topOf(stats, by);
  const most = Math.max(...tops.map((top) => top[by]), 0);
  const href = (name: string): string =>
    `#/requests?${new URLSearchParams({ ...(by === 'errors' && { state: 'failed' }), [filter]: name })}`;
  return (
    <section class="card stack tight">
      <h2 class="small">{title}</h2>
      {tops.length === 0 && <p class="third">{none}</p>}
      {tops.map((top) => (
        <p key={top.name} class="top-item">
          {NO_FILTER.has(top.name) ? (
            <span class="cut">{top.name === '' ? 'none' : 'others'}</span>
          ) : (
            <a class="cut" href={href(top.name)} title={top.name}>
              {top.name}
            </a>
          )}
          <i
            style={{ width: `${most === 0 ? 0 : (top[by] / most) * 100}%` }}
            class={by === 'errors' ? 'failed' : undefined}
          />
          <span class="num">{by === 'usd' ? usd(top.usd) : short(top[by])}</span>
        </p>
      ))}
    </section>
  );
}

interface PlotCardProps extends PlotProps {
  readonly title: string;
  /** Values of several steps are added up. */
  readonly add: boolean;
}

/** A plot, and the same figures as a table for screen readers. */
function PlotCard({ title, add, ...plot }: PlotCardProps) {
  const { times, lines, unit } = plot;
  const values = lines.map((line) => line.values);
  const rows = useMemo(() => tableOf(times, values, add), [times, lines]);
  return (
    <section class="card">
      <h2 class="small">{title}</h2>
      <Plot {...plot} />
      <Grid
        hidden
        label={title}
        head={['Time', ...lines.map(({ label }) => label)]}
        rows={rows.map(({ at, values: of }) => [
          moment(at * 1000),
          ...of.map((value) => (value === null ? 'none' : unit(value))),
        ])}
      />
    </section>
  );
}
