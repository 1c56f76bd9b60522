import type { Doing } from '../api/index.ts';
import { Button } from './button.tsx';
import { Problem } from './states.tsx';

export interface DecideProps {
  readonly verb: string;
  readonly doing: Doing;
  readonly needs?: string | undefined;
  readonly kind?: 'main' | 'danger';
  readonly onClose: () => void;
}

/** The end of a dialog: its verb, what the gateway refused, and a way out. */
export const Decide = ({ verb, doing, needs, kind = 'main', onClose }: DecideProps) => (
  <>
    {doing.error.value && <Problem error={doing.error.value} />}
    <p class="row">
      <Button label={verb} kind={kind} needs={needs} doing={doing} />
      <Button label="Cancel" onClick={onClose} />
    </p>
  </>
);
