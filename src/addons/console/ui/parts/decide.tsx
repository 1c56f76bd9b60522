import { Action, Problem } from './states.tsx';

export interface DecideProps {
  readonly verb: string;
  readonly doing: {
    readonly busy: { readonly value: boolean };
    readonly error: { readonly value: Parameters<typeof Problem>[0]['error'] | undefined };
    run(): void;
  };
  readonly needs?: string | undefined;
  readonly kind?: 'main' | 'danger';
  readonly onClose: () => void;
}

/** The end of a dialog: its verb, what the gateway refused, and a way out. */
export const Decide = ({ verb, doing, needs, kind = 'main', onClose }: DecideProps) => (
  <>
    {doing.error.value && <Problem error={doing.error.value} />}
    <p class="row">
      <Action kind={kind} needs={needs} busy={doing.busy.value} onClick={doing.run}>
        {verb}
      </Action>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
    </p>
  </>
);
