import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useSignal } from '@preact/signals';

/** The states of a screen: each says what is so, and the one thing to do. */

interface CopyProps {
  /** A text, or what reads it once it is asked for. */
  readonly text: string | (() => Promise<string>);
  readonly label?: string;
}

export function Copy({ text, label = 'Copy' }: CopyProps) {
  const said = useSignal<string | undefined>(undefined);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
      said.value = 'Copied';
    } catch {
      said.value = 'Not copied';
    }
    setTimeout(() => (said.value = undefined), 1500);
  };
  return (
    <button type="button" onClick={() => void copy()} aria-live="polite">
      {said.value ?? label}
    </button>
  );
}

export const Command = ({ text, label }: { readonly text: string; readonly label?: string }) => (
  <div class="command">
    <pre tabIndex={0} role="region" aria-label={label ?? 'Command'}>
      {text}
    </pre>
    <Copy text={text} />
  </div>
);

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="middle stack">
    <h2>{title}</h2>
    {children}
  </div>
);

interface Refused {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

/** A refusal in its place: the rest of the page works. */
export const Problem = ({ error, retry }: { readonly error: Refused; readonly retry?: (() => void) | undefined }) => (
  <div class="notice failed stack tight" role="alert">
    <p class="pre">
      <strong>{error.code}</strong>: {error.message}
    </p>
    {error.errors.map(({ pointer, message }) => (
      <p key={pointer}>
        <code>{pointer}</code> {message}
      </p>
    ))}
    {retry && (
      <p>
        <button type="button" onClick={retry}>
          Retry
        </button>
      </p>
    )}
  </div>
);

/** A first load has skeleton rows, after 150 ms: a fast answer shows none. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  const late = useLate(true, 150);
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {late && Array.from({ length: rows }, (_, index) => <i key={index} />)}
    </div>
  );
}

/** True once `is` has been so for a while. */
export function useLate(is: boolean, afterMs: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!is) return;
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => clearTimeout(timer);
  }, [is, afterMs]);
  return late;
}

/** The time, again and again. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

interface ShownState<Data> {
  readonly data: Data | undefined;
  readonly error: Refused | undefined;
  readonly loading: boolean;
}

/** Data that is loaded anew stays, dimmed after 400 ms. */
export function Loads<Data>({
  state,
  retry,
  children,
}: {
  readonly state: ShownState<Data>;
  readonly retry: () => void;
  readonly children: (data: Data) => ComponentChildren;
}) {
  const late = useLate(state.loading && state.data !== undefined, 400);
  return (
    <>
      {state.error && <Problem error={state.error} retry={retry} />}
      {state.data === undefined ? (
        !state.error && <Skeleton />
      ) : (
        <div class={late ? 'waiting' : undefined}>{children(state.data)}</div>
      )}
    </>
  );
}

interface ActionProps {
  readonly needs?: string | undefined;
  readonly onClick: () => void;
  readonly kind?: 'main' | 'danger';
  readonly children: ComponentChildren;
  readonly busy?: boolean;
}

/** A button that a role may lack: it stays visible, and says what it takes, beside it to those who press it. */
export function Action({ needs, onClick, kind, children, busy = false }: ActionProps) {
  const pressed = useSignal(false);
  const press = (): void => {
    pressed.value = needs !== undefined;
    if (needs === undefined && !busy) onClick();
  };
  return (
    <>
      <button type="button" class={kind} aria-disabled={needs !== undefined || busy} title={needs} onClick={press}>
        {children}
        {needs !== undefined && <span class="hidden">{needs}</span>}
      </button>
      {pressed.value && needs !== undefined && <span class="warning-text">{needs}</span>}
    </>
  );
}
