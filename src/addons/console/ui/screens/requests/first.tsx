import { Demo } from '../../parts/demo.tsx';
import { Empty } from '../../parts/states.tsx';

/** Before the first request: the one thing to do. The row appears by itself. */
export const FirstRequest = () => (
  <Empty title="Waiting for the first request">
    <p>Send one from a terminal. It appears here while it runs.</p>
    <Demo />
  </Empty>
);
