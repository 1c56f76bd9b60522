import { useAction } from '../api/action.ts';
import { dataUrl, demoCurl } from '../api/curl.ts';
import { sendDemo } from '../api/demo.ts';
import { needs, session } from '../api/session.ts';
import { Action, Command, Problem } from './states.tsx';

/** The demo request, as a command and as a button. */
export function Demo() {
  const { busy, error, run } = useAction(sendDemo);
  return (
    <>
      <Command text={demoCurl(dataUrl(session.value))} label="A request with curl" />
      <p>
        <Action kind="main" needs={needs('operator')} busy={busy.value} onClick={run}>
          Send it from here
        </Action>
      </p>
      {error.value && <Problem error={error.value} />}
    </>
  );
}
