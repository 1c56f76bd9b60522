import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem, Skeleton } from './states.tsx';

/** A screen whose code comes when it is opened. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let found: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [failed, setFailed] = useState(false);
    const [, draw] = useState(0);
    useEffect(() => {
      if (found) return;
      load().then(
        (component) => {
          found = component;
          draw(1);
        },
        () => setFailed(true),
      );
    }, []);
    if (found) {
      const Found = found;
      return <Found {...props} />;
    }
    const error = {
      code: 'page',
      status: 0,
      message: 'A part of the page could not be loaded: the gateway does not answer, or has a new version.',
      errors: [],
    };
    return <div class="body">{failed ? <Problem error={error} retry={() => location.reload()} /> : <Skeleton />}</div>;
  };
}
