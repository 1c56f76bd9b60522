import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { api, ask } from '../../api/client.ts';
import { needs, owns } from '../../api/session.ts';
import { Action, Problem } from '../../parts/states.tsx';

interface SaveProps {
  readonly id: string;
  /** With its secrets, which the store seals. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly problem: string | undefined;
}

/** Saves the entry where the store owns entries: all processes serve with it then, or nothing has changed. */
export function SaveEntry({ id, spec, problem }: SaveProps) {
  const saved = useSignal(false);
  const save = useAction(async () => {
    saved.value = false;
    await ask(api.POST('/providers', { params: {}, body: { id, spec } }));
    saved.value = true;
  });
  if (!owns('providers')) return null;
  return (
    <>
      <p class="row">
        <Action kind="main" needs={problem ?? needs('admin')} busy={save.busy.value} onClick={save.run}>
          Save the entry
        </Action>
        <span class="third">The store keeps it, its credential sealed. Or it goes into catalog.yaml:</span>
      </p>
      {save.error.value && <Problem error={save.error.value} />}
      {saved.value && (
        <p role="status">
          All processes serve with <a href={`#/providers?entry=${encodeURIComponent(id)}`}>@{id}</a>.
        </p>
      )}
    </>
  );
}
