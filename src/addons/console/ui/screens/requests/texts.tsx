import { useSignal } from '@preact/signals';
import { api, ask, session, useAction } from '../../api/index.ts';
import type { ShownExplanation, ShownRequest } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Plain, Problem } from '../../parts/states.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';

/** The texts of a request take a right of their own, and each reading is in the audit. */
export function Texts({ request }: { readonly request: ShownRequest }) {
  const shown = useSignal<string | undefined>(undefined);
  const { explain_id: id } = request;
  const needs =
    session.value?.content === true ? undefined : 'This takes the right `content`, of a token or of admin.content.';
  const { error, run } = useAction(async () => {
    const query = { texts: true, reason: 'console: requests' };
    const answer = await ask(api.GET('/explain/{id}', { params: { path: { id: id ?? '' }, query } }));
    // The document leaves an explanation open.
    const { targets } = answer as unknown as ShownExplanation;
    shown.value = JSON.stringify(targets[0]?.body ?? null, null, 2);
  });
  if (id === undefined)
    return <TurnOn feature="explain">Its texts are not kept. Keep those of the last 100 requests</TurnOn>;
  return (
    <>
      <p class="row">
        <Button label="Show texts" needs={needs} onClick={run} />
        <span class="third">The audit has who read them.</span>
      </p>
      {error.value && <Problem error={error.value} />}
      {shown.value !== undefined && <Plain text={shown.value} label="The request" />}
    </>
  );
}
