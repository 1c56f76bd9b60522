import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { api, ask } from '../../api/client.ts';
import { settingsTurn } from '../../api/live.ts';
import { useLoad } from '../../api/load.ts';
import { allOf } from '../../api/pages.ts';
import { needs, owns } from '../../api/session.ts';
import type { ProposedPatch } from '../../api/shapes.ts';
import { address, setQuery } from '../../address.ts';
import { Decide } from '../../parts/decide.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextArea, TextField } from '../../parts/fields.tsx';
import { Patch } from '../../parts/patch.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Nothing, SearchField } from '../../parts/search-field.tsx';
import { Loads } from '../../parts/states.tsx';
import { OWNER, type Column } from '../../parts/table.tsx';
import { PromptPage } from './page.tsx';
import { namesIn, numbersOf, specOf, type Prompt } from './prompt.ts';

/** The prompts of the files and of the store, and one of them. */
export function Prompts() {
  const { query } = address.value;
  const load = useLoad(
    'prompts',
    (signal) => allOf((page) => ask(api.GET('/prompts', { params: { query: page }, signal }))),
    settingsTurn.value,
  );
  const chosen = load.state.value.data?.find(({ id }) => id === query.get('row'));
  return (
    <>
      <header class="head ruled">
        <div class="row">
          <h1 class="grow">{chosen ? chosen.id : 'Prompts'}</h1>
          {chosen ? (
            <a class="button" href="#/prompts">
              Back to the list
            </a>
          ) : (
            <button type="button" class="main" onClick={() => setQuery({ add: '1' })}>
              Create a prompt
            </button>
          )}
        </div>
        {!chosen && <SearchField label="Find a prompt" />}
      </header>
      <Loads state={load.state.value} retry={load.reload}>
        {(prompts) =>
          chosen ? (
            <PromptPage key={chosen.id} prompt={chosen} onChange={load.reload} />
          ) : (
            <List prompts={prompts} words={query.get('q') ?? ''} />
          )
        }
      </Loads>
      {query.has('add') && <CreatePrompt onDone={load.reload} />}
    </>
  );
}

const COLUMNS: readonly Column<Prompt>[] = [
  {
    name: 'name',
    label: 'Prompt',
    title: ({ id }) => id,
    cell: ({ id }) => <a href={`#/prompts?row=${encodeURIComponent(id)}`}>{id}</a>,
  },
  {
    name: 'versions',
    label: 'Latest',
    cell: (one) => <span class="mono">{numbersOf(specOf(one))[0]}</span>,
  },
  {
    name: 'labels',
    label: 'Labels',
    cell: (one) =>
      Object.entries(specOf(one).labels ?? {})
        .map(([label, number]) => `${label} → ${number}`)
        .join(', '),
  },
  {
    name: 'what',
    label: 'Purpose',
    title: ({ spec }) => spec.description,
    cell: ({ spec }) => <span class="second">{spec.description}</span>,
  },
  OWNER,
];

const List = ({ prompts, words }: { readonly prompts: readonly Prompt[]; readonly words: string }) => (
  <Rows
    label="Prompts"
    layout="prompts"
    columns={COLUMNS}
    rows={prompts.filter(({ id, spec }) => `${id} ${spec.description ?? ''}`.includes(words))}
    idOf={({ id }) => id}
    none={
      <Nothing total={prompts.length} noun="prompt" add={['Create a prompt', '#/prompts?add=1']}>
        A prompt has versions of a chat request with variables. Applications send its name and the values.
      </Nothing>
    }
  />
);

/** In the store, or as a patch that makes its file. */
function CreatePrompt({ onDone }: { readonly onDone: () => void }) {
  const [id, text] = [useSignal(''), useSignal('')];
  const draft = useSignal<ProposedPatch | undefined>(undefined);
  const close = (): void => setQuery({ add: undefined });
  const create = useAction(async () => {
    const variables = Object.fromEntries(namesIn({ text: text.value }).map((name) => [name, {}]));
    const spec = { versions: { 1: { text: text.value, ...(Object.keys(variables).length > 0 && { variables }) } } };
    const body = { id: id.value, spec };
    if (!owns('prompts')) return void (draft.value = await ask(api.POST('/prompts:draft', { params: {}, body })));
    await ask(api.POST('/prompts', { params: {}, body }));
    setQuery({ add: undefined, row: id.value });
    onDone();
  });
  const missing = id.value === '' || text.value === '' ? 'It takes an id and a text.' : undefined;
  return (
    <Dialog title="Create a prompt" onClose={close} wide={draft.value !== undefined}>
      {draft.value ? (
        <Patch draft={draft.value} />
      ) : (
        <>
          <TextField title="Id" of={id} max={64} placeholder="ticket-summary" />
          <TextArea
            title="Text of its first version"
            of={text}
            placeholder="Summarise this ticket: {{ticket}}"
            rows={6}
          />
          <Decide
            verb={owns('prompts') ? 'Create the prompt' : 'Propose a patch'}
            doing={create}
            needs={needs(owns('prompts') ? 'admin' : 'operator') ?? missing}
            onClose={close}
          />
        </>
      )}
    </Dialog>
  );
}
