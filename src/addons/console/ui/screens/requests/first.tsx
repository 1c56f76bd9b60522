import { useSignal } from '@preact/signals';
import { needs, session } from '../../api/session.ts';
import { asRefusal } from '../../api/load.ts';
import type { ApiRefusal } from '../../api/client.ts';
import { sendDemo } from '../../api/demo.ts';
import { demoCurl } from '../../api/demo-curl.ts';
import { Action, Command, Empty, Problem } from '../../parts/states.tsx';

/** Before the first request: the one thing to do. The row appears by itself. */
export function FirstRequest() {
  const error = useSignal<ApiRefusal | undefined>(undefined);
  const busy = useSignal(false);
  const send = (): void => {
    busy.value = true;
    error.value = undefined;
    sendDemo()
      .catch((reason: unknown) => (error.value = asRefusal(reason)))
      .finally(() => (busy.value = false));
  };
  return (
    <Empty title="Waiting for the first request">
      <p>Send one from a terminal. It appears here while it runs.</p>
      <Command text={demoCurl(session.value?.data_url ?? 'http://127.0.0.1:8787')} label="A request with curl" />
      <p>
        <Action kind="main" needs={needs('operator')} busy={busy.value} onClick={send}>
          Send it from here
        </Action>
      </p>
      {error.value && <Problem error={error.value} />}
    </Empty>
  );
}
