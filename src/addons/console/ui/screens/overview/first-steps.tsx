import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { demoCurl } from '../../api/demo-curl.ts';
import { sendDemo } from '../../api/demo.ts';
import { asRefusal } from '../../api/load.ts';
import { needs, session } from '../../api/session.ts';
import type { ApiRefusal } from '../../api/client.ts';
import { Action, Command, Problem } from '../../parts/states.tsx';
import type { FirstStep } from './figures.ts';

/** The needs of a new gateway, with a tick for each that is met. */
export function FirstSteps({ steps }: { readonly steps: readonly FirstStep[] }) {
  const done = (name: FirstStep['name']): boolean => steps.find((step) => step.name === name)?.done === true;
  return (
    <section class="card stack" aria-label="First steps">
      <h2>First steps</h2>
      <ol class="stack first">
        <StepItem done={done('send')} title="Send a request">
          <Demo />
        </StepItem>
        <StepItem done={done('connect')} title="Connect a provider">
          <p class="second">
            Vertex AI, Anthropic, OpenAI, or any server with an API like theirs. Each step of the test says what to do.
          </p>
          <p>
            <a class="button" href="#/providers?add=1">
              Add a provider
            </a>
          </p>
        </StepItem>
        <StepItem done={done('key')} title="Give an application a key">
          <p>
            <a class="button" href="#/keys?add=1">
              Create a key
            </a>
          </p>
        </StepItem>
      </ol>
    </section>
  );
}

const StepItem = ({
  done,
  title,
  children,
}: {
  readonly done: boolean;
  readonly title: string;
  readonly children: ComponentChildren;
}) => (
  <li class={done ? 'done' : undefined}>
    <p class="strong">
      <span class={done ? 'ok-text' : 'third'} aria-hidden="true">
        {done ? '✓' : '○'}
      </span>{' '}
      {title} {done && <span class="ok-text">(done)</span>}
    </p>
    {!done && <div class="stack tight">{children}</div>}
  </li>
);

function Demo() {
  const error = useSignal<ApiRefusal | undefined>(undefined);
  const send = (): void => void sendDemo().catch((reason: unknown) => (error.value = asRefusal(reason)));
  return (
    <>
      <Command text={demoCurl(session.value?.data_url ?? 'http://127.0.0.1:8787')} label="A request with curl" />
      <p class="row">
        <Action kind="main" needs={needs('operator')} onClick={send}>
          Send it from here
        </Action>
        <a href="#/requests">See it arrive</a>
      </p>
      {error.value && <Problem error={error.value} />}
    </>
  );
}
