import { useSignal } from '@preact/signals';
import { api, ask } from '../../api/client.ts';
import { asRefusal } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import type { ApiRefusal } from '../../api/client.ts';
import type { ShownExplanation, ShownRequest } from '../../api/shapes.ts';
import { Action, Problem } from '../../parts/states.tsx';

/** The texts of a request take a right of their own, and each reading is in the audit. */
export function Texts({ request }: { readonly request: ShownRequest }) {
  const shown = useSignal<string | undefined>(undefined);
  const error = useSignal<ApiRefusal | undefined>(undefined);
  const { explain_id: id } = request;
  const needs = session.value?.content === true ? undefined : 'This takes the right to read texts (content).';
  const show = async (): Promise<void> => {
    if (id === undefined) return;
    try {
      const query = { texts: true, reason: 'console: requests' };
      const answer = await ask(api.GET('/explain/{id}', { params: { path: { id }, query } }));
      // The document leaves an explanation open.
      const { targets } = answer as unknown as ShownExplanation;
      shown.value = JSON.stringify(targets[0]?.body ?? null, null, 2);
    } catch (reason) {
      error.value = asRefusal(reason);
    }
  };
  if (id === undefined) return null;
  return (
    <>
      <p class="row">
        <Action needs={needs} onClick={() => void show()}>
          Show texts
        </Action>
        <span class="third">The audit has who read them.</span>
      </p>
      {error.value && <Problem error={error.value} />}
      {shown.value !== undefined && (
        <pre class="card texts" tabIndex={0} role="region" aria-label="The request">
          {shown.value}
        </pre>
      )}
    </>
  );
}
