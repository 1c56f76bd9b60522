import { Grid } from '../../parts/grid.tsx';
import { usd } from '../../parts/format.ts';
import { MOST_PARTS, type CostRow, type DayBar } from './figures.ts';

const shown = (name: string): string => (name === '' ? 'none' : name);

interface DaysProps {
  readonly bars: readonly DayBar[];
  readonly rows: readonly CostRow[];
}

/** A bar for each day, and the same figures as a table for screen readers. */
export function Days({ bars, rows }: DaysProps) {
  const most = Math.max(1, ...bars.map(({ total }) => total));
  const names = [
    ...rows.slice(0, MOST_PARTS).map(({ name }) => shown(name)),
    ...(rows.length > MOST_PARTS ? ['others'] : []),
  ];
  const title = (bar: DayBar): string =>
    [
      `${bar.date}${bar.isUtc ? ' (UTC)' : ''}: ${usd(bar.total / 1e9)}`,
      ...names.map((name, at) => `${name} ${usd((bar.parts[at] ?? 0) / 1e9)}`),
    ].join('\n');
  return (
    <section class="card" aria-label="Days">
      <h2 class="small">
        Days <span class="third">{most > 1 && `up to ${usd(most / 1e9)}`}</span>
      </h2>
      <div class="days" aria-hidden="true">
        {bars.map((bar) => (
          <div key={bar.date} class="day" title={title(bar)}>
            <div class="day-bar">
              {bar.parts.map((nano, at) => (
                <i key={at} class={`part-${at}`} style={{ height: `${(Math.max(0, nano) / most) * 100}%` }} />
              ))}
            </div>
            <span class={bar.isUtc ? 'warning-text' : 'third'}>{bar.date.slice(8)}</span>
          </div>
        ))}
      </div>
      <Grid
        hidden
        label="Cost by day"
        head={['Day', 'Total', ...names]}
        rows={bars.map((bar) => [
          `${bar.date}${bar.isUtc ? ', UTC' : ''}`,
          usd(bar.total / 1e9),
          ...names.map((_, at) => usd((bar.parts[at] ?? 0) / 1e9)),
        ])}
      />
    </section>
  );
}
