import { useSignal } from '@preact/signals';
import { api, ask, dataUrl, needs, owns, session, useAction } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { Patch } from '../../parts/patch.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { Command } from '../../parts/states.tsx';
import { Choice, TextField } from '../../parts/fields.tsx';
import { list, usesOf } from './tree.ts';

type Draft = ApiSchemas['key_draft'];

/** A key of the store, or a patch of keys.yaml that has its digest. The secret is shown once. */
export function CreateKey({ teams, onDone }: { readonly teams: readonly string[]; readonly onDone: () => void }) {
  const [id, team, models, config] = [useSignal(''), useSignal(''), useSignal(''), useSignal('')];
  const made = useSignal<{ readonly secret: string; readonly draft?: Draft } | undefined>(undefined);
  const inStore = owns('keys');
  const close = (): void => {
    setQuery({ add: undefined });
    if (made.value) onDone();
  };
  const create = useAction(async () => {
    const spec = {
      ...(team.value !== '' && { team: team.value }),
      ...(models.value !== '' && { models: [...list(models.value)] }),
      ...(config.value !== '' && { default_config: config.value }),
    };
    const body = { id: id.value, spec };
    if (inStore) made.value = { secret: (await ask(api.POST('/keys', { params: {}, body }))).key ?? '' };
    else {
      const draft = await ask(api.POST('/keys:draft', { params: {}, body }));
      made.value = { secret: draft.key, draft };
    }
  });
  if (made.value) return <NewSecret id={id.value} {...made.value} onClose={close} />;
  return (
    <Dialog title="Create a key" onClose={close}>
      <TextField title="Id" of={id} placeholder="web-search" />
      <Choice title="Team (optional)" of={team} options={teams} none="none" />
      <TextField title="Models (optional)" of={models} placeholder="any; or gemini-2.5-*, claude-*" />
      <TextField title="Default config (optional)" of={config} placeholder="production" />
      <Decide
        verb="Create the key"
        doing={create}
        needs={id.value === '' ? 'It takes an id.' : needs(inStore ? 'admin' : 'operator')}
        onClose={close}
      />
      {!inStore && <p class="third">Keys are in keys.yaml: you get the secret and a patch with its digest.</p>}
    </Dialog>
  );
}

interface SecretProps {
  readonly id: string;
  readonly secret: string;
  readonly draft?: Draft | undefined;
  readonly onClose: () => void;
}

/** The new secret, with lines that use it. */
export const NewSecret = ({ id, secret, draft, onClose }: SecretProps) => (
  <SecretDialog title={`The secret of ${id}`} secret={secret} onClose={onClose}>
    {draft && (
      <>
        <h2 class="small">The patch of {draft.file}</h2>
        <Patch draft={draft} />
      </>
    )}
    <h2 class="small">Use it</h2>
    {usesOf(dataUrl(session.value), secret).map(({ name, text }) => (
      <Command key={name} text={text} label={name} />
    ))}
  </SecretDialog>
);
