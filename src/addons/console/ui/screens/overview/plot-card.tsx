import { useMemo } from 'preact/hooks';
import { moment } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Plot, type PlotProps } from '../../parts/plot.tsx';
import { tableOf } from './figures.ts';

interface PlotCardProps extends PlotProps {
  readonly title: string;
  /** Values of several steps are added up. */
  readonly add: boolean;
}

/** A plot, and the same figures as a table for screen readers. */
export function PlotCard({ title, add, ...plot }: PlotCardProps) {
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
