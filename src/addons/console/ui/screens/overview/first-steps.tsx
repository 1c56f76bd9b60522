import type { ComponentChildren } from 'preact';
import { ButtonLink } from '../../parts/button.tsx';
import { Demo } from '../../parts/demo.tsx';
import type { firstSteps } from './figures.ts';

/** The needs of a new gateway, with a tick for each that is met. */
export function FirstSteps({ done }: { readonly done: ReturnType<typeof firstSteps> }) {
  return (
    <section class="card stack" aria-label="First steps">
      <h2>First steps</h2>
      <ol class="stack first">
        <StepItem done={done.send} title="Send a request" see="#/requests">
          <Demo />
        </StepItem>
        <StepItem done={done.connect} title="Connect a provider">
          <p class="second">
            Vertex AI, Anthropic, OpenAI, or any server with an API like theirs. Each step of the test says what to do.
          </p>
          <p>
            <ButtonLink label="Add a provider" href="#/providers?add=1" />
          </p>
        </StepItem>
        <StepItem done={done.key} title="Give an application a key">
          <p>
            <ButtonLink label="Create a key" href="#/keys?add=1" />
          </p>
        </StepItem>
      </ol>
    </section>
  );
}

const StepItem = ({
  done,
  title,
  see,
  children,
}: {
  readonly done: boolean;
  readonly title: string;
  readonly see?: string;
  readonly children: ComponentChildren;
}) => (
  <li class={done ? 'done' : undefined}>
    <p class="strong">
      <span class={done ? 'ok-text' : 'third'} aria-hidden="true">
        {done ? '✓' : '○'}
      </span>{' '}
      {title} {done && <span class="ok-text">(done)</span>}{' '}
      {done && see !== undefined && <a href={see}>See it in the list</a>}
    </p>
    {!done && <div class="stack tight">{children}</div>}
  </li>
);
