import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { api, ask } from '../../api/client.ts';
import { needs } from '../../api/session.ts';
import type { ProposedPatch } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Decide } from '../../parts/decide.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Patch } from '../../parts/patch.tsx';
import { Action, Problem } from '../../parts/states.tsx';
import type { Of } from './page.tsx';
import { mergePatch, numbersOf, type Spec } from './prompt.ts';

type Opened = 'release' | 'promote' | 'delete' | undefined;

/** Saves what was edited, as this version or as a new one; releases and promotes it. An object of a file ends in a patch. */
export function VersionActions({ prompt, spec, number, work, worked, onChange }: Of) {
  const open = useSignal<Opened>(undefined);
  const draft = useSignal<ProposedPatch | undefined>(undefined);
  const { id, etag, owner } = prompt;
  const inStore = owner === 'store';
  const least = needs(inStore ? 'admin' : 'operator');
  const params = { path: { id }, header: { 'If-Match': etag } };
  const close = (): void => {
    open.value = undefined;
    draft.value = undefined;
  };
  const isReleased = spec.versions[number]?.digest !== undefined;
  const isEdited = work.edits.value[number] !== undefined;
  const propose = async (body: Omit<Parameters<typeof draftBody>[1], never>): Promise<void> =>
    void (draft.value = await ask(api.POST('/prompts:draft', { params: {}, body: draftBody(id, body) })));
  const saved = (as: number): void => {
    const { [number]: _, ...others } = work.edits.value;
    work.edits.value = others;
    setQuery({ v: String(as) });
    onChange();
  };
  const save = (as: number) => async (): Promise<void> => {
    if (typeof worked === 'string') return;
    const { digest: _, ...version } = worked;
    const after: Spec = { ...spec, versions: { ...spec.versions, [as]: version } };
    if (!inStore) return propose({ spec: after });
    await ask(api.PATCH('/prompts/{id}', { params, body: { spec: mergePatch({ ...spec }, { ...after }) } }));
    saved(as);
  };
  const next = (numbersOf(spec)[0] ?? 0) + 1;
  const [here, asNew] = [useAction(save(number)), useAction(save(next))];
  const lack = typeof worked === 'string' ? worked : isEdited ? undefined : 'Nothing is edited.';
  const release = useAction(async () => {
    if (!inStore) return propose({ release: number });
    await ask(api.POST('/prompts/{id}:release', { params, body: { version: number } }));
    close();
    onChange();
  });
  const remove = useAction(async () => {
    await ask(api.DELETE('/prompts/{id}', { params }));
    setQuery({ prompt: undefined, v: undefined });
    onChange();
  });
  const error = here.error.value ?? asNew.error.value;
  return (
    <>
      <p class="row">
        <Action
          kind="main"
          needs={least ?? lack ?? (isReleased ? `Version ${number} is released, and never changes.` : undefined)}
          busy={here.busy.value}
          onClick={here.run}
        >
          {inStore ? `Save version ${number}` : `Propose version ${number}`}
        </Action>
        <Action
          needs={least ?? (typeof worked === 'string' ? worked : undefined)}
          busy={asNew.busy.value}
          onClick={asNew.run}
        >
          {inStore ? `Save as version ${next}` : `Propose as version ${next}`}
        </Action>
        <Action
          needs={least ?? (isReleased ? `Version ${number} is released.` : isEdited ? 'Save it first.' : undefined)}
          onClick={() => void (open.value = 'release')}
        >
          Release version {number}
        </Action>
        <Action
          needs={least ?? (isReleased ? undefined : `Version ${number} is a draft: release it first.`)}
          onClick={() => void (open.value = 'promote')}
        >
          Promote version {number}
        </Action>
        {inStore && (
          <Action kind="danger" needs={least} onClick={() => void (open.value = 'delete')}>
            Delete the prompt
          </Action>
        )}
        <span class="mono third right">{inStore ? 'in the store' : owner}</span>
      </p>
      {error && <Problem error={error} retry={error.status === 412 ? onChange : undefined} />}
      {draft.value && (
        <Dialog title={`The patch of ${draft.value.file}`} onClose={close} wide>
          <Patch draft={draft.value} />
        </Dialog>
      )}
      {open.value === 'release' && !draft.value && (
        <Dialog title={`Release version ${number}`} onClose={close}>
          <p>It gets a digest of itself and its partials. From then on neither can change: an edit is a new version.</p>
          <Decide verb={inStore ? 'Release' : 'Propose a patch'} doing={release} onClose={close} />
        </Dialog>
      )}
      {open.value === 'promote' && !draft.value && (
        <Promote
          number={number}
          spec={spec}
          onClose={close}
          promote={async (label) => {
            if (!inStore) return propose({ promote: { version: number, label } });
            await ask(api.POST('/prompts/{id}:promote', { params, body: { version: number, label } }));
            close();
            onChange();
          }}
        />
      )}
      {open.value === 'delete' && (
        <Confirm id={id} verb="Delete the prompt" doing={remove} onClose={close}>
          <p>Requests that name it get 404, and its id is not given again.</p>
        </Confirm>
      )}
    </>
  );
}

interface Wish {
  readonly spec?: Spec;
  readonly release?: number;
  readonly promote?: { readonly version: number; readonly label: string };
}

/** The gateway checks the document. */
const draftBody = (id: string, { spec, ...wish }: Wish) => ({ id, ...wish, ...(spec && { spec: spec as never }) });

interface PromoteProps extends Pick<Of, 'number' | 'spec'> {
  readonly onClose: () => void;
  readonly promote: (label: string) => Promise<void>;
}

function Promote({ number, spec, onClose, promote }: PromoteProps) {
  const label = useSignal('production');
  const doing = useAction(() => promote(label.value));
  const before = spec.labels?.[label.value];
  return (
    <Dialog title={`Promote version ${number}`} onClose={onClose}>
      <TextField title="Label" of={label} max={64} />
      <p>
        {before === undefined
          ? 'The label is new: requests may name it.'
          : `The label stands for version ${before} now: requests with it get version ${number}.`}
      </p>
      <Decide
        verb="Promote"
        doing={doing}
        needs={label.value === '' ? 'It takes a label.' : undefined}
        onClose={onClose}
      />
    </Dialog>
  );
}
