import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { ApiRefusal, asRefusal } from '../api/index.ts';
import { Problem, Skeleton } from './states.tsx';

const LOST = new ApiRefusal({
  code: 'page',
  status: 0,
  detail: 'A part of the page could not be loaded: the gateway does not answer, or has a new version.',
});

/** To be called when code that comes later did not come: the place of the component says so. */
export function useLost(): () => void {
  const [isLost, setLost] = useState(false);
  if (isLost) throw LOST;
  return () => setLost(true);
}

/** A part of the page that shows its own failure: the rest of the page works, and drafts stay. */
export function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <div class="body">
      <Problem error={asRefusal(error)} retry={error === LOST ? () => location.reload() : reset} />
    </div>
  );
}

/** A screen whose code comes when it is opened. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Found: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const lost = useLost();
    const [, draw] = useState(false);
    useEffect(() => {
      if (Found) return;
      load().then((component) => {
        Found = component;
        draw(true);
      }, lost);
    }, []);
    if (Found) return <Found {...props} />;
    return (
      <div class="body">
        <Skeleton />
      </div>
    );
  };
}
