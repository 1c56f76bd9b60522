import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { allOf, api, ask, needs, useLoad } from '../../api/index.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { Choice, memberOf, TextField } from '../../parts/fields.tsx';
import { ms, NONE } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Problem } from '../../parts/states.tsx';
import {
  Beside,
  typedValues,
  ValueFields,
  workedVersion,
  type CaseOutcome,
  type Of,
  type PromptCase,
} from './work.tsx';
import { parse, type PromptVersion } from './prompt.ts';

const MOST_CASES = 50;

/** Values with what is expected of the reply, run with two versions beside each other, in the name of a key. */
export function Cases(of: Of) {
  const { beside, number, work } = of;
  const { cases, run } = work;
  useEffect(() => run.stop, [run]);
  const problem = useSignal<string | undefined>(undefined);
  const values = typedValues(of);
  const add = (): void => {
    if (typeof values !== 'string') cases.value = [...cases.value, { variables: values, text: '', schema: '' }];
  };
  const lack =
    typeof values === 'string' ? values : cases.value.length >= MOST_CASES ? '50 cases are the most.' : undefined;
  return (
    <section class="stack" aria-label="Cases">
      <div class="card stack tight">
        <ValueFields {...of} />
        <p>
          <Button label="Add a case of these values" needs={lack} onClick={add} />
        </p>
      </div>
      <RunRow {...of} problem={problem} />
      {problem.value !== undefined && <p class="notice failed">{problem.value}</p>}
      {run.error.value && <Problem error={run.error.value} />}
      {cases.value.length === 0 ? (
        <p class="second">A case has values, and a text or a JSON schema that its reply must have.</p>
      ) : (
        <Grid
          label="Table of cases"
          head={['Values', 'Expected', `Version ${beside}`, `Version ${number}`]}
          rows={cases.value.map((one, index) => cellsOf(one, index, work))}
        />
      )}
    </section>
  );
}

function RunRow(of: Of & { readonly problem: { value: string | undefined } }) {
  const { spec, number, beside, work, worked, problem } = of;
  const { cases, run, edits } = work;
  const asked = useSignal({ as: '', config: '' });
  const keys = useLoad('keys', (signal) => allOf((query) => ask(api.GET('/keys', { params: { query }, signal }))));
  const start = (): void => {
    problem.value = undefined;
    try {
      const body = {
        as: asked.value.as,
        ...(asked.value.config !== '' && { config: asked.value.config }),
        versions: [beside, number].map((one) =>
          versionIn(workedVersion(spec, work, one), edits.value[one] && one, one),
        ),
        cases: cases.value.map(({ variables, text, schema }) => ({
          variables,
          ...(text !== '' && { text }),
          ...(schema !== '' && { schema: parse(schema, 'A schema of a case') }),
        })),
      };
      run.start(body);
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  const lack =
    typeof worked === 'string'
      ? worked
      : cases.value.length === 0
        ? 'Add a case first.'
        : asked.value.as === ''
          ? 'Choose a key first.'
          : needs('operator');
  return (
    <div class="row ends">
      <Choice
        title="As the key"
        of={memberOf(asked, 'as')}
        none="choose a key"
        options={keys.state.value.data?.map(({ id }) => id) ?? []}
      />
      <TextField title="Config, the key's own if empty" of={memberOf(asked, 'config')} max={64} />
      <Beside spec={spec} beside={beside} />
      <Button label="Run the cases" kind="main" needs={lack} busy={run.busy.value} onClick={start} />
      {run.busy.value && <Button label="Stop" onClick={run.stop} />}
    </div>
  );
}

/** A version as it is saved takes the path of prompts; one with changes runs as it is typed. */
function versionIn(worked: PromptVersion | string, changed: number | undefined, number: number): object {
  if (typeof worked === 'string') throw new Error(worked);
  const { digest: _, ...draft } = worked;
  return changed === undefined ? { version: String(number) } : { draft };
}

function cellsOf(of: PromptCase, index: number, { cases, run }: Of['work']): readonly ComponentChildren[] {
  const expected = (name: 'text' | 'schema', title: string) => (
    <input
      aria-label={`${title} of case ${index + 1}`}
      placeholder={title}
      value={of[name]}
      maxLength={10_000}
      onInput={({ currentTarget: { value } }) =>
        void (cases.value = cases.value.map((one, at) => (at === index ? { ...one, [name]: value } : one)))
      }
    />
  );
  const outcomes = run.of('case').filter((one) => one.case === index);
  return [
    <>
      <code>{JSON.stringify(of.variables).slice(0, 300)}</code>{' '}
      <Button
        label="✕"
        kind="plain"
        name={`Remove case ${index + 1}`}
        onClick={() => void (cases.value = cases.value.filter((_, at) => at !== index))}
      />
    </>,
    <div class="stack tight">
      {expected('text', 'A text in it')}
      {expected('schema', 'JSON schema')}
    </div>,
    ...[0, 1].map((version) => <Result outcome={outcomes.find((one) => one.version === version)} />),
  ];
}

function Result({ outcome }: { readonly outcome: CaseOutcome | undefined }) {
  if (!outcome) return <span class="third">{NONE}</span>;
  const { ok, text = '', problem, tokens, ms: took, request_id: request } = outcome;
  return (
    <div class="stack tight">
      <p class="row">
        <Chip tone={ok === null ? 'plain' : ok ? 'ok' : 'failed'}>
          {ok === null ? 'answered' : ok ? 'passed' : 'failed'}
        </Chip>
        <span class="third">
          {ms(took)}
          {tokens && `, ${tokens.input ?? '?'} → ${tokens.output ?? '?'} tokens`}
        </span>
        {request !== undefined && <a href={`#/requests/${encodeURIComponent(request)}/why`}>Why</a>}
      </p>
      {problem !== undefined && <p class="failed-text">{problem}</p>}
      <p class="pre reply-text">{text}</p>
    </div>
  );
}
