import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { api, ask, ApiRefusal } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { needs } from '../../api/session.ts';
import type { ProposedPatch } from '../../api/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Diff, Patch } from '../../parts/patch.tsx';
import { Action, Loads, Problem } from '../../parts/states.tsx';
import { dropEdit, edits, rebase } from './edits.ts';
import { configOf, isStored, type OpenFile } from './load.ts';

/** Writes a config of the store. Throws `precondition_failed`: another person has, meanwhile. */
export async function saveConfig({ path, etag, isNew }: OpenFile, text: string): Promise<void> {
  const id = configOf(path) ?? '';
  const spec = { text };
  await (isNew
    ? ask(api.POST('/configs', { params: {}, body: { id, spec } }))
    : ask(
        api.PATCH('/configs/{id}', {
          params: { path: { id }, header: { 'If-Match': etag ?? '' } },
          body: { spec },
        }),
      ));
}

const patchOf = (files: Readonly<Record<string, string>>, base?: string): Promise<ProposedPatch> =>
  ask(api.POST('/settings/patch', { params: {}, body: { files, ...(base !== undefined && { base }) } }));

interface SaveProps {
  readonly now: OpenFile;
  readonly text: string;
  /** Something else is in force than the person began with. */
  readonly behind: boolean;
  readonly onReload: () => void;
}

/** Saves what the store owns; a file is changed by a patch, which a person applies. */
export function Save({ now, text, behind, onReload }: SaveProps) {
  const { path } = now;
  const patch = useSignal<ProposedPatch | undefined>(undefined);
  const began = edits.value[path]?.of ?? now;
  const fresh = edits.value[path] === undefined;
  const doing = useAction(async () => {
    try {
      if (isStored(path)) {
        await saveConfig(began, text);
        dropEdit(path);
        onReload();
      } else patch.value = await patchOf(filesOf(path, text), behind ? undefined : began.base);
    } catch (error) {
      // Both sides are shown once the other one is read.
      if (error instanceof ApiRefusal && error.status === 412) onReload();
      throw error;
    }
  });
  const nothing = fresh ? 'Nothing has been edited.' : undefined;
  const blocked = behind ? 'Something else is in force now: choose a side first.' : undefined;
  return (
    <>
      <Action
        kind="main"
        busy={doing.busy.value}
        needs={nothing ?? blocked ?? (isStored(path) ? needs('admin') : undefined)}
        onClick={doing.run}
      >
        {isStored(path) ? 'Save' : 'Propose a patch'}
      </Action>
      {!fresh && (
        <button type="button" onClick={() => dropEdit(path)}>
          Discard the edit
        </button>
      )}
      {doing.error.value && <Problem error={doing.error.value} />}
      {patch.value && (
        <Dialog title="A patch of the settings" wide onClose={() => void (patch.value = undefined)}>
          <Patch draft={patch.value} />
          <p>
            <button type="button" onClick={() => void (patch.value = undefined)}>
              Close
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** The edited files, without what the store owns: a patch is of files. */
const filesOf = (path: string, text: string): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(edits.value).flatMap(([name, one]) => (isStored(name) ? [] : [[name, one.text]])),
  ),
  [path]: text,
});

/** Both sides of a text that two have changed: what is in force, and what is here. */
export function Sides({ now, text }: { readonly now: OpenFile; readonly text: string }) {
  const load = useLoad(`${now.path} ${now.etag ?? now.base} ${text}`, () => patchOf({ [now.path]: text }));
  return (
    <section class="notice warning stack tight" aria-label="Both sides">
      <p>
        <strong>{now.path} has changed since you began.</strong> Lines with − are in force now, lines with + are yours.
      </p>
      <Loads state={load.state.value} retry={load.reload}>
        {({ patch }) => <Diff text={patch === '' ? 'Both sides are equal.' : patch} label="What differs" />}
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
