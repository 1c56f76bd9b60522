import { useMemo } from 'preact/hooks';
import { routeOf, type RouteNode } from '../../editor/route.ts';
import { readYaml } from '../../editor/yaml-tree.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { plural } from '../../parts/format.ts';
import { Empty, usePaused } from '../../parts/states.tsx';

const STATES: Readonly<Record<string, readonly [Tone, string]>> = {
  open: ['failed', 'failing'],
  half_open: ['warning', 'trying again'],
  closed: ['ok', 'healthy'],
};

const MODES: Readonly<Record<string, string>> = {
  single: 'the one target',
  fallback: 'one after the other, as they fail',
  loadbalance: 'drawn by weight',
  conditional: 'the first condition that matches',
};

/** A drawing of more parts is no help to anybody. */
const MOST_PARTS = 200;
const PAUSE_MS = 300;

interface RouteProps {
  readonly text: string;
  /** Undefined: not known. */
  readonly health: ReadonlyMap<string, string> | undefined;
  readonly onShow: (line: number) => void;
}

/** The way of requests through the config, drawn from the text; each part shows its line. */
export function RouteView({ text, health, onShow }: RouteProps) {
  const drawn = usePaused(text, PAUSE_MS).value;
  const route = useMemo(() => routeOf(readYaml(drawn), MOST_PARTS), [drawn]);
  const lineOf = useMemo(() => linesIn(drawn), [drawn]);
  if (!route)
    return (
      <Empty title="No route yet">
        <p>Write a provider, or a strategy with targets.</p>
      </Empty>
    );
  return (
    <>
      <ul class="route">
        <Part of={route.node} health={health} show={(at) => onShow(lineOf(at))} lineOf={lineOf} />
      </ul>
      {route.left > 0 && (
        <p class="third">
          {plural(route.left, 'target')} more: the drawing has the first {MOST_PARTS}.
        </p>
      )}
    </>
  );
}

/** The line of an offset, from 1. */
function linesIn(text: string): (at: number) => number {
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index);
  return (at) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

interface PartProps extends Pick<RouteProps, 'health'> {
  readonly of: RouteNode;
  readonly show: (at: number) => void;
  readonly lineOf: (at: number) => number;
}

function Part({ of, health, show, lineOf }: PartProps) {
  const { place, at, name, to, mode, share, conditions, inner } = of;
  const [tone, word] = STATES[health?.get(place) ?? ''] ?? ['plain', health ? 'no calls' : 'unknown'];
  const title = name ?? (place === 'config' ? 'The config' : place.replace(/^.*\./, ''));
  return (
    <li>
      <button type="button" class="card" title={`Line ${lineOf(at)}`} onClick={() => show(at)}>
        <span class="strong cut">{title}</span>
        {share !== undefined && <span class="num">{share}</span>}
        {mode !== undefined && <span class="second cut">{MODES[mode] ?? mode}</span>}
        {to !== undefined && <span class="mono cut">{to}</span>}
        {to !== undefined && <Chip tone={tone}>{word}</Chip>}
      </button>
      {conditions.length > 0 && (
        <ol class="conditions">
          {conditions.map((one) => (
            <li key={one.at}>
              <button type="button" class="plain" title={`Line ${lineOf(one.at)}`} onClick={() => show(one.at)}>
                <span class="cut">{one.text}</span> → <strong>{one.target}</strong>
              </button>
            </li>
          ))}
        </ol>
      )}
      {inner.length > 0 && (
        <ul class={mode === 'fallback' ? 'in-order' : undefined}>
          {inner.map((one) => (
            <Part key={one.place} of={one} health={health} show={show} lineOf={lineOf} />
          ))}
        </ul>
      )}
    </li>
  );
}
