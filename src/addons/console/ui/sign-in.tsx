import { useSignal } from '@preact/signals';
import { api, ask } from './api/client.ts';
import type { ApiRefusal } from './api/client.ts';
import { asRefusal } from './api/load.ts';
import { keepHalf, resume } from './api/session.ts';
import { Dialog } from './parts/dialog.tsx';
import { Problem } from './parts/states.tsx';

/** Over the page: what was typed and loaded there stays. */
export function SignIn() {
  const error = useSignal<ApiRefusal | undefined>(undefined);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const field = document.querySelector<HTMLInputElement>('#token');
    const token = field?.value.trim() ?? '';
    try {
      const { csrf, ...next } = await ask(api.POST('/session', { params: {}, body: { token } }));
      if (field) field.value = '';
      keepHalf(csrf);
      resume(next);
    } catch (reason) {
      error.value = asRefusal(reason);
    }
  };
  return (
    <Dialog title="Sign in" onClose={() => {}} fixed>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <p class="second">
          The gateway asks for an admin token: one of `gatehouse admin tokens create`, or `admin.token` of server.yaml.
        </p>
        <label class="field">
          <span>Token</span>
          <input id="token" type="password" autocomplete="off" required maxLength={512} autofocus />
        </label>
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
