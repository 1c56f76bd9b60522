import { useSignal } from '@preact/signals';
import { api, ask, useAction } from '../../api/index.ts';
import { Button } from '../../parts/button.tsx';
import { memberOf, TextArea, TextField } from '../../parts/fields.tsx';
import { Problem } from '../../parts/states.tsx';
import { typedValues, ValueFields, type Of } from './work.tsx';
import { edited, namesIn, parse, variablesOf, type EditedVersion } from './prompt.ts';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];

/** The texts of a version, the variables found in them, and what it makes of values. */
export function Editor(of: Of) {
  const { spec, number, work } = of;
  const draft = work.edits.value[number] ?? edited(spec.versions[number] ?? {});
  const change = (next: Partial<EditedVersion>): void =>
    void (work.edits.value = { ...work.edits.value, [number]: { ...draft, ...next } });
  const fields = {
    get value() {
      const { model, note, variables, rest } = draft;
      return { model, note, variables, rest };
    },
    set value(next: Readonly<Record<'model' | 'note' | 'variables' | 'rest', string>>) {
      change(next);
    },
  };
  return (
    <div class="halves">
      <section class="stack" aria-label="The version">
        <div class="row">
          <TextField title="Model" of={memberOf(fields, 'model')} placeholder="@entry/model" />
          <TextField title="What has changed" of={memberOf(fields, 'note')} max={1000} />
        </div>
        <Messages draft={draft} change={change} />
        <FoundVariables {...of} draft={draft} change={change} />
        <TextArea title="Variables (JSON)" of={memberOf(fields, 'variables')} rows={4} />
        <TextArea title="Parameters, tools, response_format (JSON)" of={memberOf(fields, 'rest')} rows={3} />
      </section>
      <Rendered {...of} />
    </div>
  );
}

interface DraftProps {
  readonly draft: EditedVersion;
  readonly change: (next: Partial<EditedVersion>) => void;
}

function Messages({ draft: { messages }, change }: DraftProps) {
  const set = (index: number, next: Partial<EditedVersion['messages'][number]>): void =>
    change({ messages: messages.map((one, at) => (at === index ? { ...one, ...next } : one)) });
  return (
    <>
      {messages.map(({ of, text, parts }, index) => (
        <div key={index} class="stack tight">
          <div class="row">
            <select
              class="role"
              aria-label={`Role of message ${index + 1}`}
              value={of.role}
              onChange={(event) => set(index, { of: { ...of, role: event.currentTarget.value } })}
            >
              {ROLES.map((role) => (
                <option key={role} selected={role === of.role}>
                  {role}
                </option>
              ))}
            </select>
            {messages.length > 1 && (
              <Button
                label="✕"
                kind="right"
                name={`Remove message ${index + 1}`}
                onClick={() => change({ messages: messages.filter((_, at) => at !== index) })}
              />
            )}
          </div>
          <textarea
            aria-label={parts ? `Parts of message ${index + 1} (JSON)` : `Text of message ${index + 1}`}
            rows={Math.min(16, text.split('\n').length + 2)}
            value={text}
            onInput={(event) => set(index, { text: event.currentTarget.value })}
          />
        </div>
      ))}
      <p>
        <Button
          label="Add a message"
          onClick={() => change({ messages: [...messages, { of: { role: 'user' }, text: '', parts: false }] })}
        />
      </p>
    </>
  );
}

/** Names in the texts that are no variable yet, and variables that no text has. */
function FoundVariables({ worked, draft, change }: Of & DraftProps) {
  if (typeof worked === 'string') return <p class="notice failed">{worked}</p>;
  const declared = variablesOf(worked).map(([name]) => name);
  const found = namesIn(worked);
  const missing = found.filter((name) => !declared.includes(name));
  const declare = (name: string): void => {
    const known = draft.variables === '' ? {} : Object(parse(draft.variables, 'The text of the variables'));
    change({ variables: JSON.stringify({ ...known, [name]: {} }, null, 2) });
  };
  return (
    <p class="row" aria-label="Variables in the texts">
      <span class="second">
        {found.length === 0 ? 'The texts have no variable.' : `In the texts: ${found.join(', ')}.`}
      </span>
      {missing.map((name) => (
        <Button key={name} label={`Declare ${name}`} onClick={() => declare(name)} />
      ))}
      {declared.some((name) => !found.includes(name)) && (
        <span class="warning-text">
          Not in the texts: {declared.filter((name) => !found.includes(name)).join(', ')}.
        </span>
      )}
    </p>
  );
}

/** The chat request that the gateway makes of the version and of the values. */
function Rendered(of: Of) {
  const { prompt, worked } = of;
  const shown = useSignal<string | undefined>(undefined);
  const values = typedValues(of);
  const render = useAction(async () => {
    if (typeof worked === 'string' || typeof values === 'string') return;
    const { digest: _, ...draft } = worked;
    const answer = await ask(
      api.POST('/prompts/{id}:render', { params: { path: { id: prompt.id } }, body: { draft, variables: values } }),
    );
    shown.value = JSON.stringify(answer.request, null, 2);
  });
  return (
    <section class="card stack" aria-label="Values">
      <h2 class="small">Values</h2>
      <ValueFields {...of} />
      <p>
        <Button label="Show the request" needs={typeof values === 'string' ? values : undefined} doing={render} />
      </p>
      {render.error.value && <Problem error={render.error.value} />}
      {shown.value !== undefined && (
        <pre class="scroll" tabIndex={0} role="region" aria-label="The request">
          {shown.value}
        </pre>
      )}
    </section>
  );
}
