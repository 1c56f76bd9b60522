import { useSignal } from '@preact/signals';
import { allOf, api, ask, needs, owns, settingsTurn, useAction, useLoad } from '../../api/index.ts';
import type { ProposedPatch } from '../../api/shapes.ts';
import { address, setQuery } from '../../address.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { TextArea, TextField } from '../../parts/fields.tsx';
import { PatchDialog } from '../../parts/patch.tsx';
import { Head } from '../../parts/head.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Loads } from '../../parts/states.tsx';
import { nameColumn, OWNER, textColumn, type Column } from '../../parts/columns.tsx';
import { PromptPage } from './page.tsx';
import { namesIn, numbersOf, specOf, type Prompt } from './prompt.ts';

/** The prompts of the files and of the store, and one of them. */
export function Prompts() {
  const { query } = address.value;
  const read = (signal: AbortSignal) => allOf((page) => ask(api.GET('/prompts', { params: { query: page }, signal })));
  const load = useLoad('prompts', read, settingsTurn.value);
  const chosen = load.state.value.data?.find(({ id }) => id === query.get('row'));
  return (
    <>
      {chosen ? (
        <Head title={chosen.id} ruled actions={<ButtonLink label="Back to the list" href="#/prompts" />} />
      ) : (
        <Head
          title="Prompts"
          find="Find a prompt"
          actions={<Button label="Create a prompt" kind="main" onClick={() => setQuery({ add: '1' })} />}
        />
      )}
      <Loads of={load}>
        {(prompts) =>
          chosen ? <PromptPage key={chosen.id} prompt={chosen} onChange={load.reload} /> : <List prompts={prompts} />
        }
      </Loads>
      {query.has('add') && <CreatePrompt onDone={load.reload} />}
    </>
  );
}

const COLUMNS: readonly Column<Prompt>[] = [
  nameColumn('Prompt', [120, 1.2], ({ id }) => id),
  textColumn('Latest', 60, (one) => String(numbersOf(specOf(one))[0])),
  textColumn('Labels', [100, 1.2], (one) =>
    Object.entries(specOf(one).labels ?? {})
      .map(([label, number]) => `${label} → ${number}`)
      .join(', '),
  ),
  textColumn('Purpose', [120, 2], ({ spec }) => spec.description, 'narrow'),
  OWNER,
];

const List = ({ prompts }: { readonly prompts: readonly Prompt[] }) => (
  <Rows
    label="Prompts"
    columns={COLUMNS}
    rows={prompts}
    idOf={({ id }) => id}
    found={{
      noun: 'prompt',
      wordsOf: ({ id, spec }) => `${id} ${spec.description ?? ''}`,
      add: ['Create a prompt', '#/prompts?add=1'],
      about: 'A prompt has versions of a chat request with variables. Applications send its name and the values.',
    }}
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
  if (draft.value) return <PatchDialog title="Create a prompt" draft={draft.value} onClose={close} />;
  return (
    <Dialog title="Create a prompt" onClose={close}>
      <TextField title="Id" of={id} max={64} placeholder="ticket-summary" />
      <TextArea title="Text of its first version" of={text} placeholder="Summarise this ticket: {{ticket}}" rows={6} />
      <Decide
        verb={owns('prompts') ? 'Create the prompt' : 'Propose a patch'}
        doing={create}
        needs={needs(owns('prompts') ? 'admin' : 'operator') ?? missing}
        onClose={close}
      />
    </Dialog>
  );
}
