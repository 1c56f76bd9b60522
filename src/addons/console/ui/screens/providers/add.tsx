import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { api, ask } from '../../api/client.ts';
import { useAction } from '../../api/action.ts';
import { needs, session } from '../../api/session.ts';
import type { ShownEntry, EntryKind, ProposedPatch } from '../../api/shapes.ts';
import { Patch } from '../../parts/patch.tsx';
import { Action, Command, Problem } from '../../parts/states.tsx';
import {
  fieldsOf,
  firstSentence,
  slugProblem,
  specOf,
  withoutSecrets,
  type EntryField,
  type FormValues,
} from './entry.ts';
import { FieldInput } from './field.tsx';
import { SaveEntry } from './save.tsx';
import { createTestRun, type ShownRun } from './test-run.ts';
import { TestSteps } from './test-steps.tsx';

/** Type → place → credential → test → models → result, on one page. */
export function AddProvider({
  kinds,
  entries,
}: {
  readonly kinds: readonly EntryKind[];
  readonly entries: readonly ShownEntry[];
}) {
  const kind = useSignal<EntryKind | undefined>(undefined);
  return (
    <form class="stack add" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="stack tight">
        <legend>1. The kind</legend>
        <div class="kinds">
          {kinds.map((one) => (
            <button
              key={one.kind}
              type="button"
              aria-pressed={kind.value === one}
              onClick={() => void (kind.value = one)}
            >
              <span class="strong">{one.title}</span>
              <span class="third">{firstSentence(one.description)}</span>
            </button>
          ))}
        </div>
      </fieldset>
      {kind.value && <EntryForm key={kind.value.kind} kind={kind.value} entries={entries} />}
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

function EntryForm({ kind, entries }: { readonly kind: EntryKind; readonly entries: readonly ShownEntry[] }) {
  const taken = entries.map(({ slug }) => slug);
  const fields = useMemo(() => fieldsOf(kind), [kind]);
  const slug = useSignal(freeSlug(kind.kind, taken));
  const values = useSignal<FormValues>({});
  const run = useMemo(createTestRun, [kind]);
  useEffect(() => run.stop, [run]);
  const problem = slugProblem(slug.value, taken);
  const spec = specOf(kind.kind, fields, values.value);
  const input = (field: EntryField) => (
    <FieldInput
      key={field.name}
      field={field}
      value={values.value[field.name]}
      onChange={(value) => void (values.value = { ...values.value, [field.name]: value })}
    />
  );
  return (
    <>
      <fieldset class="stack">
        <legend>2. Where it is, and what it takes</legend>
        <label class="field">
          <span>Name, for @name in configs</span>
          <input
            value={slug.value}
            aria-invalid={problem !== undefined}
            maxLength={64}
            onInput={(event) => void (slug.value = event.currentTarget.value)}
          />
          {problem !== undefined && <span class="warning-text">{problem}</span>}
        </label>
        {fields.filter(({ rare }) => !rare).map(input)}
        {fields.some(({ rare }) => rare) && (
          <details class="stack">
            <summary>More fields</summary>
            <div class="stack">{fields.filter(({ rare }) => rare).map(input)}</div>
          </details>
        )}
      </fieldset>
      <TestPart run={run} spec={spec} />
      <Result id={slug.value} spec={spec} fields={fields} problem={problem} />
    </>
  );
}

function TestPart({ run, spec }: { readonly run: ShownRun; readonly spec: Readonly<Record<string, unknown>> }) {
  const model = useSignal('');
  const call = useSignal(false);
  // With a store, an entry that is not saved is tested by those who may save it.
  const role = session.value?.features.store === true ? 'admin' : 'operator';
  return (
    <fieldset class="stack">
      <legend>3. The test</legend>
      <label class="row">
        <input
          type="checkbox"
          checked={call.value}
          onChange={(event) => void (call.value = event.currentTarget.checked)}
        />
        End with a small call of a model. It costs as a call does.
      </label>
      {call.value && (
        <label class="field">
          <span>Model of the call</span>
          <input
            value={model.value}
            placeholder="the first of its models"
            maxLength={256}
            onInput={(event) => void (model.value = event.currentTarget.value)}
          />
        </label>
      )}
      <p>
        <Action
          needs={needs(role)}
          busy={run.state.value === 'running'}
          onClick={() =>
            run.start({ entry: spec, call: call.value, ...(model.value !== '' && { model: model.value }) })
          }
        >
          Test
        </Action>
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

/** A patch, in which a secret is named and not written. */
function Result({ id, spec, fields, problem }: ResultProps) {
  const draft = useSignal<ProposedPatch | undefined>(undefined);
  const propose = useAction(async () => {
    const body = { id, spec: withoutSecrets(id, spec, fields) };
    draft.value = await ask(api.POST('/providers:draft', { params: {}, body }));
  });
  return (
    <fieldset class="stack">
      <legend>4. The result</legend>
      <SaveEntry id={id} spec={spec} problem={problem} />
      <p class="row">
        <Action kind="main" needs={problem ?? needs('operator')} busy={propose.busy.value} onClick={propose.run}>
          Propose a patch
        </Action>
        <span class="third">For catalog.yaml: you apply the patch, and the gateway reloads.</span>
      </p>
      {propose.error.value && <Problem error={propose.error.value} />}
      {draft.value && <Patch draft={draft.value} />}
      {draft.value && <Next id={id} />}
    </fieldset>
  );
}

function Next({ id }: { readonly id: string }) {
  const url = session.value?.data_url ?? 'http://127.0.0.1:8787';
  const curl = [
    `curl ${url}/v1/chat/completions \\`,
    `  -H "x-gateway-api-key: $KEY" -H 'content-type: application/json' \\`,
    `  -d '{"model":"@${id}/MODEL","messages":[{"role":"user","content":"hello"}]}'`,
  ].join('\n');
  const config = `strategy: { mode: fallback }\ntargets:\n  - provider: "@${id}"\n  - provider: "@simulator"\n    override_params: { model: sim-steady }`;
  return (
    <section class="stack tight" aria-label="What is next">
      <h2 class="small">What is next</h2>
      <p class="second">A request with this entry:</p>
      <Command text={curl} label="A request with curl" />
      <p class="second">A config with a fallback, as gateway/NAME.yaml:</p>
      <Command text={config} label="A gateway config" />
      <p>
        <a class="button" href="#/keys?add=1">
          Create a key for it
        </a>
      </p>
    </section>
  );
}
