import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ListedRequest } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Button } from '../../parts/button.tsx';
import { clock, plural } from '../../parts/format.ts';
import { barsOf, highest, type Bar } from './bars.ts';

const HEIGHT = 44;
const GAP = 0.2;

/** A range of bars, chosen by dragging over them. */
function useDrag(bars: readonly Bar[]) {
  const from = useSignal<number | undefined>(undefined);
  const to = useSignal<number | undefined>(undefined);
  const barAt = (event: PointerEvent): number => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - box.left) / box.width) * widthOf(bars))));
  };
  const end = (): void => {
    const [a, b] = [from.value, to.value];
    from.value = undefined;
    to.value = undefined;
    if (a === undefined || b === undefined) return;
    const [first, last] = [bars[Math.min(a, b)], bars[Math.max(a, b)]];
    if (!first || !last) return;
    setQuery(
      { since: new Date(first.from).toISOString(), until: new Date(last.to).toISOString(), row: undefined },
      false,
    );
  };
  return {
    chosen: from.value === undefined || to.value === undefined ? undefined : ([from.value, to.value] as const),
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        from.value = barAt(event);
        to.value = from.value;
      },
      onPointerMove: (event: PointerEvent) => {
        if (from.value !== undefined) to.value = barAt(event);
      },
      onPointerUp: end,
    },
  };
}

/** A few bars do not fill the strip. */
const widthOf = (bars: readonly Bar[]): number => Math.max(bars.length, 30);

/** The last requests by result. Dragging over it sets the range of the list. */
export function Strip({ rows, query }: { readonly rows: readonly ListedRequest[]; readonly query: URLSearchParams }) {
  const bars = useMemo(() => barsOf(rows), [rows]);
  const { chosen, handlers } = useDrag(bars);
  const bad = bars.reduce((sum, bar) => sum + bar.bad, 0);
  return (
    <div class="strip-box">
      <svg
        class="strip"
        viewBox={`0 0 ${widthOf(bars)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${plural(rows.length, 'request')} by time, ${bad} failed. Drag to choose a range.`}
        {...handlers}
      >
        {chosen && (
          <rect class="chosen" x={Math.min(...chosen)} width={Math.abs(chosen[1] - chosen[0]) + 1} height={HEIGHT} />
        )}
        <Bars bars={bars} />
      </svg>
      <Range query={query} />
    </div>
  );
}

function Bars({ bars }: { readonly bars: readonly Bar[] }) {
  const top = highest(bars);
  const part = (kind: 'good' | 'bad', index: number, below: number, size: number) => {
    const [height, base] = [(size / top) * HEIGHT, (below / top) * HEIGHT];
    return (
      size > 0 && <rect class={kind} x={index + GAP / 2} width={1 - GAP} y={HEIGHT - base - height} height={height} />
    );
  };
  return (
    <>
      {bars.map(({ from, good, bad }, index) => (
        <g key={from}>
          {part('good', index, 0, good)}
          {part('bad', index, good, bad)}
        </g>
      ))}
    </>
  );
}

function Range({ query }: { readonly query: URLSearchParams }) {
  const [since, until] = [query.get('since'), query.get('until')];
  const words = (time: string | null, none: string): string => {
    if (time === null) return none;
    return Number.isNaN(Date.parse(time)) ? `${time} ago` : clock(time);
  };
  if (since === null && until === null) return null;
  return (
    <p class="row range">
      <span class="mono">
        {words(since, 'the first record')} – {words(until, 'now')}
      </span>
      <Button label="All times" onClick={() => setQuery({ since: undefined, until: undefined })} />
    </p>
  );
}
