import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiRefusal } from '../api/index.ts';
import { Problem, Skeleton } from './states.tsx';

const LOST = new ApiRefusal({
  code: 'page',
  status: 0,
  detail: 'A part of the page could not be loaded: the gateway does not answer, or has a new version.',
});

/** A screen whose code comes when it is opened. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Found: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [state, setState] = useState<'waits' | 'here' | 'lost'>('waits');
    useEffect(() => {
      if (Found) return;
      load().then(
        (component) => {
          Found = component;
          setState('here');
        },
        () => setState('lost'),
      );
    }, []);
    if (Found) return <Found {...props} />;
    return (
      <div class="body">
        {state === 'lost' ? <Problem error={LOST} retry={() => location.reload()} /> : <Skeleton />}
      </div>
    );
  };
}
