import { useSignal } from '@preact/signals';
import { useRun } from '../../api/index.ts';
import type { ShownPlace } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { count, plural } from '../../parts/format.ts';
import { Choice } from '../../parts/fields.tsx';
import { RunStatus } from '../../parts/run-status.tsx';

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

interface EffectEvents {
  readonly progress: { readonly done: number; readonly of: number };
  readonly change: Change;
  readonly done: Done;
}

const LAST = ['100', '300', '1000'] as const;

interface EffectProps {
  readonly files: () => Readonly<Record<string, string>>;
  readonly onShow: (place: ShownPlace) => void;
}

/** The last requests that would change with the texts that are not saved, before it happens. */
export function Effect({ files, onShow }: EffectProps) {
  const last = useSignal<string>('300');
  const run = useRun<EffectEvents>('/settings/effect');
  const progress = run.of('progress').at(-1);
  const [done] = run.of('done');
  return (
    <div class="stack">
      <p class="row ask">
        <Choice title="Of the last requests" of={last} options={LAST} />
        <Button
          label="Show the effect"
          kind="main"
          busy={run.busy.value}
          onClick={() => run.start({ files: files(), last: Number(last.value) })}
        />
      </p>
      <RunStatus
        run={run}
        label="The effect"
        so={progress ? `${count(progress.done)} of ${count(progress.of)} requests compared` : 'Comparing…'}
      >
        {done && <Headline done={done} />}
      </RunStatus>
      <ol class="stack">
        {run.of('change').map((one, index) => (
          <li key={index} class="card stack tight">
            <Moved of={one} onShow={onShow} />
          </li>
        ))}
      </ol>
      {(done?.reasons ?? []).map(({ reason, count: number, sample }) => (
        <p key={reason} class="notice">
          {plural(number, 'request')} unknown: {reason}. <Sample id={sample} />
        </p>
      ))}
    </div>
  );
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

function Moved({ of, onShow }: { readonly of: Change } & Pick<EffectProps, 'onShow'>) {
  const { sample, count: number, before, after, fields } = of;
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

const Place = ({ of, onShow }: { readonly of: ShownPlace | undefined } & Pick<EffectProps, 'onShow'>) =>
  of ? (
    <Button label={`${of.file}:${of.line}`} kind="place" onClick={() => onShow(of)} />
  ) : (
    <span>no line of the settings</span>
  );

const Sample = ({ id }: { readonly id: string | undefined }) =>
  id === undefined || id === '' ? null : <a href={`#/requests?row=${encodeURIComponent(id)}`}>An example</a>;
