import { useSignal } from '@preact/signals';
import { api, ask, keepHalf, resume, session, signInNeeded, useAction } from './api/index.ts';
import { TextField } from './parts/fields.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Problem } from './parts/states.tsx';

/** Over the page: what was typed and loaded there stays. */
export function SignIn() {
  const token = useSignal('');
  const { error, run } = useAction(async () => {
    const { csrf, ...next } = await ask(api.POST('/session', { params: {}, body: { token: token.value.trim() } }));
    token.value = '';
    keepHalf(csrf ?? null);
    resume(next);
  });
  return (
    <Dialog title="Sign in" onClose={() => void (signInNeeded.value = false)} fixed={session.value === undefined}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <p class="second">
          The gateway asks for an admin token: one of `gatehouse admin tokens create`, or `admin.token` of server.yaml.
        </p>
        <TextField title="Token" of={token} secret max={512} />
        {error.value && <Problem error={error.value} />}
        <p>
          <button type="submit" class="main">
            Sign in
          </button>
        </p>
      </form>
    </Dialog>
  );
}
