import type uPlot from 'uplot';
import { useEffect, useRef } from 'preact/hooks';
import { clock, day, minute } from './format.ts';
import { useLost } from './lazy.tsx';
import { theme, zone } from './prefs.ts';

export interface PlotLine {
  readonly label: string;
  readonly tone: 'accent' | 'failed' | 'warning' | 'ok' | 'running';
  readonly values: readonly (number | null)[];
  /** The area below is filled. */
  readonly filled?: boolean;
}

export interface PlotProps {
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly unit: (value: number) => string;
  /** A step that was clicked, in seconds since 1970. */
  readonly onPick: (at: number) => void;
}

const HEIGHT = 150;
const END_LABELS = 62;
const DAY_S = 86_400;

/** Lines over time. The cursor of all plots moves together. */
export function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const lost = useLost();
  const latest = useRef(props);
  latest.current = props;
  const shape = props.lines.map(({ label }) => label).join();
  useEffect(() => {
    let ended = false;
    const watcher = new ResizeObserver(
      ([entry]) => entry && plot.current?.setSize({ width: entry.contentRect.width, height: HEIGHT }),
    );
    import('uplot').then(({ default: UPlot }) => {
      if (ended || !box.current) return;
      plot.current = new UPlot(optionsOf(box.current, latest), dataOf(latest.current), box.current);
      watcher.observe(box.current);
    }, lost);
    return () => {
      ended = true;
      watcher.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [theme.value, zone.value, shape]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.lines]);
  return <div ref={box} class="plot" aria-hidden="true" onClick={() => pick(plot.current, props)} />;
}

const dataOf = ({ times, lines }: PlotProps): uPlot.AlignedData => [
  [...times],
  ...lines.map(({ values }) => [...values]),
];

function pick(plot: uPlot | undefined, { times, onPick }: PlotProps): void {
  const at = plot?.cursor.idx;
  if (at !== null && at !== undefined && times[at] !== undefined) onPick(times[at]);
}

const timeText = (at: number, step: number): string => {
  if (step >= DAY_S / 2) return day(at * 1000).slice(5);
  return step < 60 ? clock(at * 1000) : minute(at * 1000);
};

function optionsOf(box: HTMLElement, latest: { readonly current: PlotProps }): uPlot.Options {
  const style = getComputedStyle(box);
  const colour = (name: string): string => style.getPropertyValue(`--plot-${name}`).trim() || style.color;
  const axis = { stroke: colour('third'), font: '11px system-ui, sans-serif', ticks: { show: false } };
  return {
    width: box.clientWidth,
    height: HEIGHT,
    padding: [8, END_LABELS, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: 'gatehouse' }, y: false, points: { size: 6 } },
    scales: { y: { range: (_, __, most) => [0, (most > 0 ? most : 1) * 1.1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 26,
        values: (_, splits) => splits.map((at) => timeText(at, (splits[1] ?? at) - (splits[0] ?? at))),
      },
      {
        ...axis,
        grid: { stroke: colour('line'), width: 1 },
        space: 36,
        size: 60,
        values: (_, splits) => splits.map((value) => (value === 0 ? '0' : latest.current.unit(value))),
      },
    ],
    series: [
      {},
      ...latest.current.lines.map(({ label, tone, filled }) => ({
        label,
        stroke: colour(tone),
        width: 1.5,
        points: { show: true, size: 4, filter: (plot: uPlot, index: number) => alone(plot.data[index] ?? []) },
        ...(filled === true && { fill: colour(`${tone}-soft`) }),
      })),
    ],
    hooks: { draw: [(plot) => endLabels(plot, latest.current.lines, colour)] },
  };
}

/** Values without a neighbour, which no line shows. */
const alone = (values: ArrayLike<number | null | undefined>): number[] =>
  Array.from(values).flatMap((value, at) =>
    value !== null && values[at - 1] == null && values[at + 1] == null ? [at] : [],
  );

/** A label at the end of each line, in place of a legend. */
function endLabels(plot: uPlot, lines: readonly PlotLine[], colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  const taken: number[] = [];
  lines.forEach(({ label, tone, values }) => {
    const last = values.findLast((value) => value !== null);
    if (last === undefined || last === null) return;
    let y = plot.valToPos(last, 'y', true);
    while (taken.some((one) => Math.abs(one - y) < 12 * ratio)) y -= 12 * ratio;
    taken.push(y);
    ctx.fillStyle = colour(tone);
    ctx.fillText(label, bbox.left + bbox.width + 6 * ratio, Math.max(6 * ratio, y));
  });
  ctx.restore();
}
