import { useMemo } from 'preact/hooks';
import { moment } from '../../parts/format.ts';
import { Plot, type PlotLine } from '../../parts/plot.tsx';
import { zone } from '../../parts/prefs.ts';
import { tableOf } from './figures.ts';

/** A plot, and the same figures as a table for screen readers. */
export function PlotCard({
  title,
  times,
  lines,
  unit,
  onPick,
  add = false,
}: {
  readonly title: string;
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly unit: (value: number) => string;
  readonly onPick: (at: number) => void;
  readonly add?: boolean;
}) {
  const rows = useMemo(
    () =>
      tableOf(
        times,
        lines.map(({ values }) => values),
        add,
      ),
    [times, lines],
  );
  return (
    <section class="card">
      <h2 class="small">{title}</h2>
      <Plot times={times} lines={lines} unit={unit} onPick={onPick} />
      <table class="hidden">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {lines.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, values }) => (
            <tr key={at}>
              <th scope="row">{moment(at * 1000, zone.value)}</th>
              {values.map((value, index) => (
                <td key={index}>{value === null ? 'none' : unit(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
