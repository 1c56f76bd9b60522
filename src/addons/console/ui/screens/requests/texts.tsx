import { useSignal } from '@preact/signals';
import { api, ask, session, useAction } from '../../api/index.ts';
import type { ApiSchemas, ShownExplanation, ShownRequest } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Command, Load, Plain, Problem } from '../../parts/states.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import { setQuery } from '../../address.ts';
import { Check } from '../../parts/fields.tsx';
import { Dialog } from '../../parts/dialog.tsx';

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

const close = (): void => setQuery({ case: undefined });

/** The way of a request, as a case of `gatehouse test`. The gateway has run it already. */
export function TestCase({ id }: { readonly id: string }) {
  const texts = useSignal(false);
  const read = async (signal: AbortSignal) => {
    const query = texts.value ? { texts: true, reason: 'console: test case' } : {};
    const answer = await ask(api.GET('/requests/{id}/test', { params: { path: { id }, query }, signal }));
    // The page asks for JSON.
    return answer as ApiSchemas['record_case'];
  };
  return (
    <Dialog title="A test of this request" onClose={close} wide>
      <Load of={`${id} ${texts.value}`} read={read}>
        {({ file, text, passes, notes }) => (
          <div class="stack tight">
            <p class={`notice ${passes ? 'ok' : 'warning'}`}>
              {passes
                ? 'The case passes with the settings in force.'
                : 'The case does not pass with the settings in force:'}
            </p>
            {notes.map((note) => (
              <p key={note} class="second">
                {note}
              </p>
            ))}
            <p>
              For <code>{file}</code>; where that file exists, add the case to its list.
            </p>
            <Command text={text} label="The case" />
            <Command text={`npx gatehouse test --filter ${id}`} label="Run it" />
          </div>
        )}
      </Load>
      <div class="row">
        <Check is={texts.value} disabled={session.value?.content !== true} onChange={(is) => void (texts.value = is)}>
          With its texts (it takes the right `content`; the audit has who read them)
        </Check>
        <Button label="Close" kind="right" onClick={close} />
      </div>
    </Dialog>
  );
}
