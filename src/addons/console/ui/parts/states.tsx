import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useSignal, type Signal } from '@preact/signals';
import { type ApiRefusal, type Loading, useLoad } from '../api/index.ts';

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

interface BlockProps {
  readonly text: string;
  readonly label?: string;
}

export const Command = ({ text, label = 'Command' }: BlockProps) => (
  <div class="command">
    <pre tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
    <Copy text={text} />
  </div>
);

/** A long text as it is, such as JSON. */
export const Plain = ({ text, label }: BlockProps) => (
  <pre class="card scroll texts" tabIndex={0} role="region" aria-label={label}>
    {text}
  </pre>
);

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="middle stack">
    <h2>{title}</h2>
    {children}
  </div>
);

interface ProblemProps {
  readonly error: Pick<ApiRefusal, 'code' | 'message' | 'errors'>;
  readonly retry?: (() => void) | undefined;
}

/** A refusal in its place: the rest of the page works. */
export const Problem = ({ error, retry }: ProblemProps) => (
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
function useLate(is: boolean, afterMs: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!is) return;
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => clearTimeout(timer);
  }, [is, afterMs]);
  return late;
}

/** A value, once it has stayed the same for a while. */
export function usePaused<Value>(value: Value, pauseMs: number): Signal<Value> {
  const paused = useSignal(value);
  useEffect(() => {
    const timer = setTimeout(() => void (paused.value = value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return paused;
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

interface LoadsProps<Data> {
  readonly of: Loading<Data>;
  readonly children: (data: Data, reload: () => void) => ComponentChildren;
}

/** Data that is loaded anew stays, dimmed after 400 ms. */
export function Loads<Data>({ of: { state, reload }, children }: LoadsProps<Data>) {
  const { data, error, loading } = state.value;
  const late = useLate(loading && data !== undefined, 400);
  return (
    <>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Skeleton />
      ) : (
        <div class={late ? 'waiting' : undefined}>{children(data, reload)}</div>
      )}
    </>
  );
}

interface LoadProps<Data> extends Pick<LoadsProps<Data>, 'children'> {
  readonly of: string;
  readonly read: (signal: AbortSignal) => Promise<Data>;
  readonly news?: number;
}

/** The answer of `read`, once it is there. */
export const Load = <Data,>({ of, read, news, children }: LoadProps<Data>) => (
  <Loads of={useLoad(of, read, news)}>{children}</Loads>
);
