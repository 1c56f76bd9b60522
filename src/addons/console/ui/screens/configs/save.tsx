import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { api, ask, ApiRefusal } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { needs } from '../../api/session.ts';
import type { ProposedPatch } from '../../api/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Diff } from '../../parts/diff.tsx';
import { linesOfPatch, Patch } from '../../parts/patch.tsx';
import { Action, Loads, Problem } from '../../parts/states.tsx';
import { dropEdit, edits, isBehind, rebase } from './edits.ts';
import { configOf, isStored, type OpenFile } from './load.ts';

const patchOf = (files: Readonly<Record<string, string>>, base?: string): Promise<ProposedPatch> =>
  ask(api.POST('/settings/patch', { params: {}, body: { files, ...(base !== undefined && { base }) } }));

/** Rejects with `precondition_failed`: another person has written it, meanwhile. */
function saveConfig({ path, etag = '', isNew }: OpenFile, text: string): Promise<unknown> {
  const id = configOf(path) ?? '';
  const spec = { text };
  if (isNew) return ask(api.POST('/configs', { params: {}, body: { id, spec } }));
  return ask(api.PATCH('/configs/{id}', { params: { path: { id }, header: { 'If-Match': etag } }, body: { spec } }));
}

/** The edited files as they were begun with these settings. What the store owns is no file. */
const filesOf = ({ path, base }: OpenFile, text: string): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(edits.value).flatMap(([name, one]) =>
      isStored(name) || one.of.base !== base ? [] : [[name, one.text]],
    ),
  ),
  [path]: text,
});

/** Saves what the store owns; a file is changed by a patch, which a person applies. */
export function useSave(now: OpenFile, text: string, onReload: () => void) {
  const { path } = now;
  const patch = useSignal<ProposedPatch | undefined>(undefined);
  const doing = useAction(async () => {
    try {
      if (!isStored(path)) return void (patch.value = await patchOf(filesOf(now, text), now.base));
      await saveConfig(now, text);
      dropEdit(path);
      onReload();
    } catch (error) {
      // Both sides are shown once the other one is read.
      if (error instanceof ApiRefusal && error.status === 412) onReload();
      throw error;
    }
  });
  const own = edits.value[path];
  const lacks =
    (own ? undefined : 'Nothing has been edited.') ??
    (isBehind(own, now) ? 'Something else is in force now: choose a side first.' : undefined) ??
    (isStored(path) ? needs('admin') : undefined);
  return { doing, patch, lacks };
}

interface SaveProps {
  readonly path: string;
  readonly save: ReturnType<typeof useSave>;
}

export function Save({ path, save: { doing, patch, lacks } }: SaveProps) {
  const close = (): void => void (patch.value = undefined);
  return (
    <>
      <Action kind="main" busy={doing.busy.value} needs={lacks} onClick={doing.run}>
        {isStored(path) ? 'Save' : 'Propose a patch'}
      </Action>
      {path in edits.value && (
        <button type="button" onClick={() => dropEdit(path)}>
          Discard the edit
        </button>
      )}
      {doing.error.value && <Problem error={doing.error.value} />}
      {patch.value && (
        <Dialog title="A patch of the settings" wide onClose={close}>
          <Patch draft={patch.value} />
          <p>
            <button type="button" onClick={close}>
              Close
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** Both sides of a text that two have changed: what is in force, and what is here. */
export function Sides({ now, text }: { readonly now: OpenFile; readonly text: string }) {
  const load = useLoad(`${now.path} ${now.etag ?? now.base} ${text}`, () => patchOf({ [now.path]: text }));
  return (
    <section class="notice warning stack tight" aria-label="Both sides">
      <p>
        <strong>{now.path} has changed since you began.</strong> Lines with − are in force now, lines with + are yours.
      </p>
      <Loads state={load.state.value} retry={load.reload}>
        {({ patch }) => (
          <Diff lines={patch === '' ? ['Both sides are equal.'] : linesOfPatch(patch)} label="What differs" />
        )}
      </Loads>
      <p class="row">
        <button type="button" onClick={() => rebase(now)}>
          Go on with mine
        </button>
        <button type="button" onClick={() => dropEdit(now.path)}>
          Take what is in force
        </button>
      </p>
    </section>
  );
}
