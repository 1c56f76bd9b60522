import { dataUrl, DEMO_BODY, demoCurl, needs, refusalOf, session, stream, useAction } from '../api/index.ts';
import { Button } from './button.tsx';
import { Command, Problem } from './states.tsx';

/** Sends the demo request through the playground, as the key of the sample. */
async function sendDemo(): Promise<void> {
  const response = await stream('/playground', { body: { as: 'demo', path: '/v1/chat/completions', body: DEMO_BODY } });
  if (!response.ok) throw refusalOf(await response.json().catch(() => undefined), response.status);
  await response.text();
}

/** The demo request, as a command and as a button. */
export function Demo() {
  const sending = useAction(sendDemo);
  return (
    <>
      <Command text={demoCurl(dataUrl(session.value))} label="A request with curl" />
      <p>
        <Button label="Send it from here" kind="main" needs={needs('operator')} doing={sending} />
      </p>
      {sending.error.value && <Problem error={sending.error.value} />}
    </>
  );
}
