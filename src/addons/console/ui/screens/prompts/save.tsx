import { useSignal, type Signal } from '@preact/signals';
import { api, ask, needs, useAction } from '../../api/index.ts';
import type { ProposedPatch } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Button, Opens } from '../../parts/button.tsx';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { PatchDialog } from '../../parts/patch.tsx';
import { Remove } from '../../parts/remove.tsx';
import { Problem } from '../../parts/states.tsx';
import { mergePatch, numbersOf, type Spec } from './prompt.ts';
import type { Of } from './work.tsx';

interface Wish {
  readonly spec?: Spec;
  readonly release?: number;
  readonly promote?: { readonly version: number; readonly label: string };
}

/** Changes of a prompt. One of a file ends in a patch. */
function changesOf(
  { prompt: { id, etag, owner }, spec, number, work, worked, onChange }: Of,
  draft: Signal<ProposedPatch | undefined>,
) {
  const inStore = owner === 'store';
  const params = { path: { id }, header: { 'If-Match': etag } };
  const propose = async ({ spec: document, ...wish }: Wish): Promise<void> => {
    // The gateway checks the document.
    const body = { id, ...wish, ...(document && { spec: document as never }) };
    draft.value = await ask(api.POST('/prompts:draft', { params: {}, body }));
  };
  return {
    inStore,
    async save(as: number): Promise<void> {
      if (typeof worked === 'string') return;
      const { digest: _, ...version } = worked;
      const after: Spec = { ...spec, versions: { ...spec.versions, [as]: version } };
      if (!inStore) return propose({ spec: after });
      await ask(api.PATCH('/prompts/{id}', { params, body: { spec: mergePatch({ ...spec }, { ...after }) } }));
      const { [number]: __, ...others } = work.edits.value;
      work.edits.value = others;
      setQuery({ v: String(as) });
      onChange();
    },
    async release(): Promise<void> {
      if (!inStore) return propose({ release: number });
      await ask(api.POST('/prompts/{id}:release', { params, body: { version: number } }));
      onChange();
    },
    async promote(label: string): Promise<void> {
      if (!inStore) return propose({ promote: { version: number, label } });
      await ask(api.POST('/prompts/{id}:promote', { params, body: { version: number, label } }));
      onChange();
    },
    remove: () => ask(api.DELETE('/prompts/{id}', { params })),
  };
}

type Changes = ReturnType<typeof changesOf>;

/** Why something cannot be done with the version. */
function lacksOf({ spec, number, work, worked }: Of) {
  const isReleased = spec.versions[number]?.digest !== undefined;
  const isEdited = work.edits.value[number] !== undefined;
  const wrong = typeof worked === 'string' ? worked : undefined;
  return {
    here:
      wrong ??
      (isEdited
        ? isReleased
          ? `Version ${number} is released, and never changes.`
          : undefined
        : 'Nothing is edited.'),
    asNew: wrong,
    release: isReleased ? `Version ${number} is released.` : isEdited ? 'Save it first.' : undefined,
    promote: isReleased ? undefined : `Version ${number} is a draft: release it first.`,
  };
}

/** Saves what was edited, as this version or as a new one; releases and promotes it. */
export function VersionActions(of: Of) {
  const draft = useSignal<ProposedPatch | undefined>(undefined);
  const { prompt, spec, number, onChange } = of;
  const changes = changesOf(of, draft);
  const next = (numbersOf(spec)[0] ?? 0) + 1;
  const [here, asNew] = [useAction(() => changes.save(number)), useAction(() => changes.save(next))];
  const lacks = lacksOf(of);
  const least = needs(changes.inStore ? 'admin' : 'operator');
  const verb = changes.inStore ? 'Save' : 'Propose';
  const error = here.error.value ?? asNew.error.value;
  return (
    <>
      <p class="row">
        <Button label={`${verb} version ${number}`} kind="main" needs={least ?? lacks.here} doing={here} />
        <Button label={`${verb} as version ${next}`} needs={least ?? lacks.asNew} doing={asNew} />
        <Opens label={`Release version ${number}`} needs={least ?? lacks.release}>
          {(close) => <Release number={number} changes={changes} onClose={close} />}
        </Opens>
        <Opens label={`Promote version ${number}`} needs={least ?? lacks.promote}>
          {(close) => <Promote spec={spec} number={number} changes={changes} onClose={close} />}
        </Opens>
        {changes.inStore && (
          <Remove
            id={prompt.id}
            verb="Delete the prompt"
            remove={changes.remove}
            onDone={() => {
              setQuery({ row: undefined, v: undefined });
              onChange();
            }}
          >
            <p>Requests that name it get 404, and its id is not given again.</p>
          </Remove>
        )}
        <span class="mono third right">{changes.inStore ? 'in the store' : prompt.owner}</span>
      </p>
      {error && <Problem error={error} retry={error.status === 412 ? onChange : undefined} />}
      <PatchDialog draft={draft.value} onClose={() => void (draft.value = undefined)} />
    </>
  );
}

interface ChangeProps {
  readonly changes: Changes;
  readonly onClose: () => void;
}

function Release({ number, changes, onClose }: ChangeProps & Pick<Of, 'number'>) {
  const doing = useAction(() => changes.release().then(onClose));
  return (
    <Dialog title={`Release version ${number}`} onClose={onClose}>
      <p>It gets a digest of itself and its partials. From then on neither can change: an edit is a new version.</p>
      <Decide verb={changes.inStore ? 'Release' : 'Propose a patch'} doing={doing} onClose={onClose} />
    </Dialog>
  );
}

function Promote({ spec, number, changes, onClose }: ChangeProps & Pick<Of, 'number' | 'spec'>) {
  const label = useSignal('production');
  const doing = useAction(() => changes.promote(label.value).then(onClose));
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
        verb={changes.inStore ? 'Promote' : 'Propose a patch'}
        doing={doing}
        needs={label.value === '' ? 'It takes a label.' : undefined}
        onClose={onClose}
      />
    </Dialog>
  );
}
