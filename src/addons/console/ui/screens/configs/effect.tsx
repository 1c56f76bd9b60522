import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { createRun } from '../../api/run.ts';
import { needs } from '../../api/session.ts';
import type { ShownPlace } from '../../api/shapes.ts';
import { count, plural } from '../../parts/format.ts';
import { Choice } from '../../parts/fields.tsx';
import { Action, Problem } from '../../parts/states.tsx';

interface Way {
  /** Where it goes, or how it is refused. */
  readonly to?: string;
  readonly target?: string;
  readonly place?: ShownPlace;
}

interface Change {
  readonly sample: string;
  readonly count: number;
  readonly before: Way;
  readonly after: Way;
  readonly fields: readonly { readonly path: string; readonly before?: unknown; readonly after?: unknown }[];
}

interface Done {
  readonly same: number;
  readonly changed: number;
  readonly unknown: number;
  readonly reasons?: readonly { readonly reason: string; readonly count: number; readonly sample?: string }[];
}

const LAST = ['100', '300', '1000'] as const;

/** The last requests that would change with the texts that are not saved, before it happens. */
export function Effect({
  files,
  onShow,
}: {
  readonly files: () => Readonly<Record<string, string>>;
  readonly onShow: (place: ShownPlace) => void;
}) {
  const last = useSignal<string>('300');
  const own = useMemo(createEffect, []);
  useEffect(() => own.run.stop, [own]);
  const { run, changes, done, progress } = own;
  const { of, done: seen } = progress.value;
  return (
    <div class="stack">
      <p class="row ask">
        <Choice title="Of the last requests" of={last} options={LAST} />
        <Action
          kind="main"
          needs={needs('operator')}
          busy={run.state.value === 'running'}
          onClick={() => run.start({ files: files(), last: Number(last.value) })}
        >
          Show the effect
        </Action>
      </p>
      <div role="status" aria-label="The effect" class="stack">
        {run.state.value === 'running' && (
          <p class="second">{of > 0 ? `${count(seen)} of ${count(of)} requests compared` : 'Comparing…'}</p>
        )}
        {run.state.value === 'cut' && !run.error.value && (
          <p class="notice failed">The answer ended before the comparison did: try again.</p>
        )}
        {done.value && <Headline done={done.value} />}
      </div>
      {run.error.value && <Problem error={run.error.value} />}
      <ol class="stack">
        {changes.value.map((one, index) => (
          <li key={index} class="card stack tight">
            <Moved of={one} onShow={onShow} />
          </li>
        ))}
      </ol>
      {(done.value?.reasons ?? []).map(({ reason, count: number, sample }) => (
        <p key={reason} class="notice">
          {plural(number, 'request')} unknown: {reason}. <Sample id={sample} />
        </p>
      ))}
    </div>
  );
}

function createEffect() {
  const changes = signal<readonly Change[]>([]);
  const done = signal<Done | undefined>(undefined);
  const progress = signal({ done: 0, of: 0 });
  const run = createRun(
    '/settings/effect',
    (event, data) => {
      // The gateway's own events.
      if (event === 'progress') progress.value = data as { done: number; of: number };
      if (event === 'change') changes.value = [...changes.value, data as Change];
      if (event === 'done') done.value = data as Done;
    },
    () => {
      changes.value = [];
      done.value = undefined;
      progress.value = { done: 0, of: 0 };
    },
  );
  return { changes, done, progress, run };
}

function Headline({ done: { same, changed, unknown } }: { readonly done: Done }) {
  const all = same + changed + unknown;
  if (all === 0) return <p class="notice">There are no requests to compare yet.</p>;
  return (
    <p class={`notice ${changed > 0 ? 'warning' : 'ok'}`}>
      {changed > 0
        ? `${count(changed)} of ${plural(all, 'request')} would change`
        : `None of ${plural(all, 'request')} would change`}
      {unknown > 0 && `, ${count(unknown)} unknown`}.
    </p>
  );
}

const wayText = ({ to, target }: Way): string => to ?? target ?? 'unknown';
const valueText = (value: unknown): string => (value === undefined ? 'as the caller sends it' : JSON.stringify(value));

function Moved({
  of: { sample, count: number, before, after, fields },
  onShow,
}: {
  readonly of: Change;
  readonly onShow: (place: ShownPlace) => void;
}) {
  const isMoved = wayText(before) !== wayText(after);
  return (
    <>
      <p class="row top">
        <strong class="num">{count(number)}</strong>
        <span class="grow mono">
          {isMoved ? `${wayText(before)} → ${wayText(after)}` : `${wayText(after)}, sent otherwise`}
        </span>
      </p>
      {fields.map(({ path, before: was, after: is }) => (
        <p key={path} class="second">
          <code>{path}</code>: {valueText(was)} → {valueText(is)}
        </p>
      ))}
      <p class="third">
        Decided by <Place of={before.place} onShow={onShow} />, and then by <Place of={after.place} onShow={onShow} />.{' '}
        <Sample id={sample} />
      </p>
    </>
  );
}

const Place = ({ of, onShow }: { readonly of: ShownPlace | undefined; readonly onShow: (place: ShownPlace) => void }) =>
  of ? (
    <button type="button" class="place" onClick={() => onShow(of)}>
      {of.file}:{of.line}
    </button>
  ) : (
    <span>no line of the settings</span>
  );

const Sample = ({ id }: { readonly id: string | undefined }) =>
  id === undefined || id === '' ? null : <a href={`#/requests?row=${encodeURIComponent(id)}`}>An example</a>;
