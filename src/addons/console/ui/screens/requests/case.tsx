import { useSignal } from '@preact/signals';
import { api, ask, session } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Button } from '../../parts/button.tsx';
import { Check } from '../../parts/fields.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Command, Load } from '../../parts/states.tsx';

const close = (): void => setQuery({ case: undefined });

/** What happened to a request, as a case of `gatehouse test`. The gateway has run it already. */
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
