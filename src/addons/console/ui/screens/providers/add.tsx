import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { api, ask, curlOf, dataUrl, needs, owns, session, useAction, useRun } from '../../api/index.ts';
import { address, setQuery } from '../../address.ts';
import type { ShownEntry, EntryKind, ProposedPatch } from '../../api/shapes.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Check, TextField } from '../../parts/fields.tsx';
import { Patch } from '../../parts/patch.tsx';
import { Command, Problem } from '../../parts/states.tsx';
import {
  fieldsOf,
  firstSentence,
  offeredKinds,
  slugProblem,
  specOf,
  withoutSecrets,
  type EntryField,
  type FormValues,
  type OfferedKind,
} from './entry.ts';
import { FieldInput } from './field.tsx';
import { TestSteps, type TestEvents } from './test-steps.tsx';

/** Type → place → credential → test → models → result, on one page. */
export function AddProvider({
  kinds,
  entries,
}: {
  readonly kinds: readonly EntryKind[];
  readonly entries: readonly ShownEntry[];
}) {
  const offered = useMemo(() => offeredKinds(kinds), [kinds]);
  const kind = offered.find(({ name }) => name === address.value.query.get('kind'));
  return (
    <form class="stack add" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="stack tight">
        <legend>1. The kind</legend>
        <div class="kinds">
          {offered.map((one) => (
            <button
              key={one.name}
              type="button"
              aria-pressed={kind === one}
              onClick={() => setQuery({ kind: one.name })}
            >
              <span class="strong">{one.title}</span>
              <span class="third">{firstSentence(one.description)}</span>
            </button>
          ))}
        </div>
      </fieldset>
      {kind && <EntryForm key={kind.name} kind={kind} entries={entries} />}
    </form>
  );
}

function freeSlug(kind: string, taken: readonly string[]): string {
  const base = kind.split('-')[0] ?? kind;
  return (
    [base, ...Array.from({ length: 20 }, (_, index) => `${base}-${index + 2}`)].find((slug) => !taken.includes(slug)) ??
    ''
  );
}

function EntryForm({ kind, entries }: { readonly kind: OfferedKind; readonly entries: readonly ShownEntry[] }) {
  const taken = useMemo(() => entries.map(({ slug }) => slug), []);
  const fields = useMemo(() => fieldsOf(kind), [kind]);
  const slug = useSignal(freeSlug(kind.kind, taken));
  const values = useSignal<FormValues>({});
  const problem = slugProblem(slug.value, taken);
  const spec = specOf(kind.kind, fields, values.value);
  const input = (field: EntryField) => (
    <FieldInput
      key={field.name}
      field={field}
      value={values.value[field.name]}
      known={entries.flatMap(({ slug: of, provider, credential: { ref } }) =>
        provider === kind.kind && ref !== undefined && !owns('providers') ? [{ of, ref }] : [],
      )}
      onChange={(value) => void (values.value = { ...values.value, [field.name]: value })}
    />
  );
  return (
    <>
      <fieldset class="stack">
        <legend>2. Where it is, and what it takes</legend>
        <TextField title="Name, for @name in configs" of={slug} max={64} problem={problem} />
        {fields.filter(({ rare }) => !rare).map(input)}
        {fields.some(({ rare }) => rare) && (
          <details class="stack">
            <summary>More fields</summary>
            <div class="stack">{fields.filter(({ rare }) => rare).map(input)}</div>
          </details>
        )}
      </fieldset>
      <TestPart spec={spec} />
      <Result id={slug.value} spec={spec} fields={fields} problem={problem} />
    </>
  );
}

function TestPart({ spec }: Pick<ResultProps, 'spec'>) {
  const run = useRun<TestEvents>('/providers:test');
  const model = useSignal('');
  const call = useSignal(false);
  // With a store, an entry that is not saved is tested by those who may save it.
  const role = session.value?.features.store === true ? 'admin' : 'operator';
  return (
    <fieldset class="stack">
      <legend>3. The test</legend>
      <Check is={call.value} onChange={(is) => void (call.value = is)}>
        End with a small call of a model. It costs as a call does.
      </Check>
      {call.value && <TextField title="Model of the call" of={model} placeholder="the first of its models" />}
      <p>
        <Button
          label="Test"
          needs={needs(role)}
          busy={run.busy.value}
          onClick={() =>
            run.start({ entry: spec, call: call.value, ...(model.value !== '' && { model: model.value }) })
          }
        />
      </p>
      <TestSteps run={run} />
    </fieldset>
  );
}

interface ResultProps {
  readonly id: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly fields: readonly EntryField[];
  readonly problem: string | undefined;
}

/** Saved and sealed where the store owns entries; else a patch, in which a secret is named and not written. */
function Result({ id, spec, fields, problem }: ResultProps) {
  const done = useSignal<ProposedPatch | 'saved' | undefined>(undefined);
  const inStore = owns('providers');
  const { busy, error, run } = useAction(async () => {
    if (inStore) {
      await ask(api.POST('/providers', { params: {}, body: { id, spec } }));
      done.value = 'saved';
    } else {
      const body = { id, spec: withoutSecrets(id, spec, fields) };
      done.value = await ask(api.POST('/providers:draft', { params: {}, body }));
    }
  });
  const lack = problem ?? needs(inStore ? 'admin' : 'operator');
  return (
    <fieldset class="stack">
      <legend>4. The result</legend>
      <p class="row">
        <Button
          label={inStore ? 'Save the entry' : 'Propose a patch'}
          kind="main"
          needs={done.value === 'saved' ? 'It is saved.' : lack}
          busy={busy.value}
          onClick={run}
        />
        <span class="third">
          {inStore
            ? 'The store keeps it, with its secrets sealed.'
            : 'The entries are in catalog.yaml: you apply the patch, and the gateway reloads.'}
        </span>
      </p>
      {error.value && <Problem error={error.value} />}
      {done.value === 'saved' && <p class="notice ok">All processes serve with the entry.</p>}
      {typeof done.value === 'object' && <Patch draft={done.value} />}
      {done.value && <Next id={id} />}
    </fieldset>
  );
}

function Next({ id }: { readonly id: string }) {
  const body = { model: `@${id}/MODEL`, messages: [{ role: 'user', content: 'hello' }] };
  const config = `strategy: { mode: fallback }\ntargets:\n  - provider: "@${id}"\n  - provider: "@simulator"\n    override_params: { model: sim-steady }`;
  return (
    <section class="stack tight" aria-label="What is next">
      <h2 class="small">What is next</h2>
      <p class="second">A request with this entry:</p>
      <Command text={curlOf({ url: dataUrl(session.value), body })} label="A request with curl" />
      <p class="second">A config with a fallback, as gateway/NAME.yaml:</p>
      <Command text={config} label="A gateway config" />
      <p>
        <ButtonLink label="Create a key for it" href="#/keys?add=1" />
      </p>
    </section>
  );
}
