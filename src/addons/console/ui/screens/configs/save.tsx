import { useSignal } from '@preact/signals';
import { api, ApiRefusal, ask, needs, useAction } from '../../api/index.ts';
import type { ProposedPatch } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Diff } from '../../parts/diff.tsx';
import { linesOfPatch, PatchDialog } from '../../parts/patch.tsx';
import { Load, Problem } from '../../parts/states.tsx';
import { dropEdit, edits, isBehind, rebase } from './edits.ts';
import { configOf, isStored, type OpenText } from './load.ts';

const patchOf = (files: Readonly<Record<string, string>>, base?: string): Promise<ProposedPatch> =>
  ask(api.POST('/settings/patch', { params: {}, body: { files, ...(base !== undefined && { base }) } }));

/** Rejects with `precondition_failed`: another person has written it, meanwhile. */
function saveConfig({ path, etag = '', isNew }: OpenText, text: string): Promise<unknown> {
  const id = configOf(path) ?? '';
  const spec = { text };
  if (isNew) return ask(api.POST('/configs', { params: {}, body: { id, spec } }));
  return ask(api.PATCH('/configs/{id}', { params: { path: { id }, header: { 'If-Match': etag } }, body: { spec } }));
}

/** The edited files as they were begun with these settings. What the store owns is no file. */
const filesOf = ({ path, base }: OpenText, text: string): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(edits.value).flatMap(([name, one]) =>
      isStored(name) || one.of.base !== base ? [] : [[name, one.text]],
    ),
  ),
  [path]: text,
});

/** Saves what the store owns; a file is changed by a patch, which a person applies. */
export function useSave(now: OpenText, text: string, onReload: () => void) {
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
      <Button label={isStored(path) ? 'Save' : 'Propose a patch'} kind="main" needs={lacks} doing={doing} />
      {path in edits.value && <Button label="Discard the edit" onClick={() => dropEdit(path)} />}
      {doing.error.value && <Problem error={doing.error.value} />}
      <PatchDialog title="A patch of the settings" draft={patch.value} onClose={close} />
    </>
  );
}

/** Both sides of a text that two have changed: what is in force, and what is here. */
export function Sides({ now, text }: { readonly now: OpenText; readonly text: string }) {
  return (
    <section class="notice warning stack tight" aria-label="Both sides">
      <p>
        <strong>{now.path} has changed since you began.</strong> Lines with − are in force now, lines with + are yours.
      </p>
      <Load of={`${now.path} ${now.etag ?? now.base} ${text}`} read={() => patchOf({ [now.path]: text })}>
        {({ patch }) => (
          <Diff lines={patch === '' ? ['Both sides are equal.'] : linesOfPatch(patch)} label="What differs" />
        )}
      </Load>
      <p class="row">
        <Button label="Go on with mine" onClick={() => rebase(now)} />
        <Button label="Take what is in force" onClick={() => dropEdit(now.path)} />
      </p>
    </section>
  );
}
