import { useSignal, type Signal } from '@preact/signals';
import { api, ask, type Loading, useAction, useLoad } from '../../api/index.ts';
import type { ShownExplanation } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Check, fieldOf, memberOf, TextArea, TextField } from '../../parts/fields.tsx';
import { Head } from '../../parts/head.tsx';
import { Loads, Problem } from '../../parts/states.tsx';
import { loadFile, type WhyData } from './load.ts';
import { changed, NO_CHANGES, questionOf, wayOf, type WhatIfChanges, type WhatIfQuestion } from './question.ts';

const BLANK: WhatIfQuestion = {
  method: 'POST',
  path: '/v1/chat/completions',
  headers: {},
  body: { model: '@simulator/demo', messages: [{ role: 'user', content: 'text' }] },
};

// The document leaves an explanation open.
const explain = async (body: WhatIfQuestion, signal: AbortSignal): Promise<ShownExplanation> =>
  (await ask(api.POST('/explain', { params: {}, body, signal }))) as unknown as ShownExplanation;

/** Asks what would become of a request with something changed; both ways stand beside each other. */
export function WhatIf({ from }: { readonly from?: WhyData }) {
  const base = from ? questionOf(from) : BLANK;
  const asked = useSignal<WhatIfChanges>(NO_CHANGES);
  const draft = useSignal<WhatIfChanges>(NO_CHANGES);
  const before = useLoad(from && JSON.stringify(base), (signal) => explain(base, signal));
  const question = changed(base, asked.value);
  const isAsked = asked.value !== NO_CHANGES;
  const after = useLoad(isAsked ? JSON.stringify(question) : undefined, (signal) => explain(question, signal));
  const content = (
    <div class="why">
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          asked.value = { ...draft.value };
        }}
      >
        <h2 class="small">{from ? 'What if…' : 'Explain a request'}</h2>
        <Fields draft={draft} base={base} from={from} />
        <p>
          <button type="submit" class="main">
            {from ? 'Ask' : 'Explain'}
          </button>
        </p>
        <p class="third">Nothing is sent to a provider, and no limit counts.</p>
      </form>
      <Ways isFrom={from !== undefined} isAsked={isAsked} before={before} after={after} />
    </div>
  );
  if (from) return content;
  return (
    <>
      <Head title="Why">
        <p class="second">Open a request and choose Why, or ask here what would become of one.</p>
      </Head>
      <div class="body">{content}</div>
    </>
  );
}

interface WaysProps {
  readonly isFrom: boolean;
  readonly isAsked: boolean;
  readonly before: Loading<ShownExplanation>;
  readonly after: Loading<ShownExplanation>;
}

const Ways = ({ isFrom, isAsked, before, after }: WaysProps) => (
  <div class="ways">
    {isFrom && (
      <section class="card stack tight">
        <h2 class="small">As it is</h2>
        <Loads of={before}>{(found) => <Way of={found} />}</Loads>
      </section>
    )}
    {isAsked && (
      <section class="card stack tight">
        <h2 class="small">{isFrom ? 'With the change' : 'The way of the request'}</h2>
        <Loads of={after}>{(found) => <Way of={found} against={before.state.value.data} />}</Loads>
      </section>
    )}
  </div>
);

function Way({ of, against }: { readonly of: ShownExplanation; readonly against?: ShownExplanation | undefined }) {
  const known = new Set(against ? wayOf(against).map(({ text, place }) => `${text} ${place}`) : []);
  return (
    <ol class="stack tight">
      {wayOf(of).map(({ text, place }) => (
        <li key={`${text} ${place}`} class={against && !known.has(`${text} ${place}`) ? 'differs row' : 'row'}>
          <span class="grow">{text}</span>
          <span class="mono third">{place}</span>
        </li>
      ))}
      {(of.notes ?? []).map((note) => (
        <li key={note} class="third">
          {note}
        </li>
      ))}
    </ol>
  );
}

interface FieldsProps {
  readonly draft: Signal<WhatIfChanges>;
  readonly base: WhatIfQuestion;
  readonly from: WhyData | undefined;
}

function Fields({ draft, base, from }: FieldsProps) {
  const text = (name: 'key' | 'model' | 'at' | 'draw', title: string, placeholder: string) => (
    <TextField title={title} of={memberOf(draft, name)} placeholder={placeholder} />
  );
  const { down } = draft.value;
  const mark = (place: string, is: boolean): void =>
    void (draft.value = { ...draft.value, down: [...down.filter((one) => one !== place), ...(is ? [place] : [])] });
  const headers = Object.entries(base.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  const targets = Object.entries(from?.places ?? {}).filter(([name]) => name.includes('targets['));
  return (
    <>
      {text('key', 'Key', base.key ?? 'the id of a key')}
      {text('model', 'Model', String(Object(base.body).model))}
      <TextArea
        title="Headers, a line each"
        of={memberOf(draft, 'headers')}
        placeholder={headers.join('\n') || 'x-gateway-config: production'}
      />
      <div class="row">
        {text('at', 'Time', 'now, or 2026-11-28T10:00:00Z')}
        {text('draw', 'Draws of weights', '0.5')}
      </div>
      {targets.length > 0 && (
        <fieldset class="stack tight">
          <legend>Targets that are down</legend>
          {targets.map(([place, { line }]) => (
            <Check key={place} is={down.includes(place)} onChange={(is) => mark(place, is)}>
              <span class="mono">
                {place} <span class="third">line {line}</span>
              </span>
            </Check>
          ))}
        </fieldset>
      )}
      {targets[0] && <EditedFile path={targets[0][1].file} draft={draft} />}
    </>
  );
}

/** The file of the config, to be tried in another version. Nothing is saved. */
function EditedFile({ path, draft }: { readonly path: string; readonly draft: Signal<WhatIfChanges> }) {
  const set = (text: string): void => void (draft.value = { ...draft.value, file: { path, text } });
  const { file } = draft.value;
  const open = useAction(async () => {
    const found = await loadFile(path, '', new AbortController().signal);
    if (found) set(found.text);
  });
  if (file) return <TextArea class="mono edit" title={path} of={fieldOf(() => file.text, set)} />;
  return (
    <>
      <p>
        <Button label={`Try an edit of ${path}`} onClick={open.run} />
      </p>
      {open.error.value && <Problem error={open.error.value} />}
    </>
  );
}
