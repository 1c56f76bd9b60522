import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { api, ask } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { allOf } from '../../api/pages.ts';
import { needs } from '../../api/session.ts';
import { Chip } from '../../parts/chip.tsx';
import { Choice, memberOf, TextField } from '../../parts/fields.tsx';
import { ms, NONE } from '../../parts/format.ts';
import { Action, Problem } from '../../parts/states.tsx';
import { Beside, typedValues, ValueFields, workedVersion, type Of } from './work.tsx';
import { parse, type Version } from './prompt.ts';
import type { CaseOutcome, PromptCase } from './run.ts';

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
          <Action needs={lack} onClick={add}>
            Add a case of these values
          </Action>
        </p>
      </div>
      <RunRow {...of} problem={problem} />
      {problem.value !== undefined && <p class="notice failed">{problem.value}</p>}
      {run.error.value && <Problem error={run.error.value} />}
      {cases.value.length === 0 ? (
        <p class="second">A case has values, and a text or a JSON schema that its reply must have.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of cases">
          <table>
            <thead>
              <tr>
                {['Values', 'Expected', `Version ${beside}`, `Version ${number}`].map((title, at) => (
                  <th key={at} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {cases.value.map((one, index) => (
                <Row key={index} of={one} index={index} work={work} />
              ))}
            </tbody>
          </table>
        </div>
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
      <Action kind="main" needs={lack} busy={run.busy.value} onClick={start}>
        Run the cases
      </Action>
      {run.busy.value && (
        <button type="button" onClick={run.stop}>
          Stop
        </button>
      )}
    </div>
  );
}

/** A version as it is saved takes the path of prompts; one with changes runs as it is typed. */
function versionIn(worked: Version | string, changed: number | undefined, number: number): object {
  if (typeof worked === 'string') throw new Error(worked);
  const { digest: _, ...draft } = worked;
  return changed === undefined ? { version: String(number) } : { draft };
}

interface RowProps extends Pick<Of, 'work'> {
  readonly of: PromptCase;
  readonly index: number;
}

function Row({ of, index, work: { cases, run } }: RowProps) {
  const set = (next: Partial<PromptCase>): void =>
    void (cases.value = cases.value.map((one, at) => (at === index ? { ...one, ...next } : one)));
  const outcomeOf = (version: number): CaseOutcome | undefined =>
    run.outcomes.value.find((one) => one.case === index && one.version === version);
  const expected = (name: 'text' | 'schema', title: string) => (
    <input
      aria-label={`${title} of case ${index + 1}`}
      placeholder={title}
      value={of[name]}
      maxLength={10_000}
      onInput={(event) => set({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <tr>
      <td>
        <code>{JSON.stringify(of.variables).slice(0, 300)}</code>{' '}
        <button
          type="button"
          class="plain"
          aria-label={`Remove case ${index + 1}`}
          onClick={() => void (cases.value = cases.value.filter((_, at) => at !== index))}
        >
          ✕
        </button>
      </td>
      <td class="stack tight">
        {expected('text', 'A text in it')}
        {expected('schema', 'JSON schema')}
      </td>
      {[0, 1].map((version) => (
        <td key={version}>
          <Result outcome={outcomeOf(version)} />
        </td>
      ))}
    </tr>
  );
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
