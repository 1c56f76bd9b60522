import type { ShownAttempt, ShownRequest } from '../../api/shapes.ts';

export interface Segment {
  readonly kind: 'ok' | 'failed' | 'running' | 'wait';
  /** Shares of the whole, from 0 to 100. */
  readonly from: number;
  readonly size: number;
  readonly title: string;
}

export interface TimelineRow {
  readonly provider: string;
  readonly model: string;
  readonly target: string;
  readonly status: string;
  readonly segments: readonly Segment[];
}

const KINDS: Readonly<Record<string, Segment['kind']>> = { success: 'ok', running: 'running' };

/** A row for each attempt: its tries, and the waits before them. */
export function timelineOf({
  attempts,
  duration_ms,
}: Pick<ShownRequest, 'attempts' | 'duration_ms'>): readonly TimelineRow[] {
  const whole = Math.max(duration_ms, ...attempts.map(endOf), 0.001);
  const share = (value: number): number => Math.max(0, Math.min(100, (value / whole) * 100));
  return attempts.map((attempt) => ({
    provider: attempt.provider ?? 'no provider',
    model: attempt.request_model ?? '',
    target: attempt.target_name ?? attempt.target,
    status: statusOf(attempt),
    segments: attempt.tries.flatMap(
      (
        { started_ms: at, duration_ms: took, waited_ms: waited = 0, in_line_ms: inLine = 0, outcome, status, error },
        index,
      ) => {
        const wait = (from: number, size: number, title: string): Segment[] =>
          size > 0
            ? [{ kind: 'wait', from: share(from), size: share(size), title: `${title} ${Math.round(size)} ms` }]
            : [];
        return [
          ...wait(at - waited, waited, 'waited before the next try'),
          ...wait(at, inLine, 'waited for a connection'),
          {
            kind: KINDS[outcome] ?? 'failed',
            from: share(at + inLine),
            size: share(took - inLine),
            title: `try ${index + 1}: ${status ?? error?.code ?? outcome}, ${Math.round(took)} ms`,
          },
        ];
      },
    ),
  }));
}

const endOf = ({ tries }: ShownAttempt): number => {
  const last = tries.at(-1);
  return last ? last.started_ms + last.duration_ms : 0;
};

function statusOf({ tries, failure, cache, outcome }: ShownAttempt): string {
  if (tries.length === 0) return cache === 'hit' ? 'cache' : (failure?.code ?? outcome);
  const last = tries.at(-1);
  return String(last?.status ?? last?.error?.code ?? (outcome === 'running' ? '' : outcome));
}

/** The failure that the client got, or that a later target rescued: in the words of the provider where it sent some. */
export function failureOf(attempt: ShownAttempt): { readonly code: string; readonly text: string } | undefined {
  const { failure } = attempt;
  if (!failure) return undefined;
  return {
    code: failure.upstream_kind ?? failure.code ?? 'failed',
    text: [
      failure.upstream_message ?? failure.type ?? '',
      failure.upstream_param === undefined ? '' : `(${failure.upstream_param})`,
    ]
      .filter(Boolean)
      .join(' '),
  };
}

/** Complete after a try or a target had failed: as the list has it. */
export const isRescued = ({
  state,
  retries = 0,
  attempts,
}: Pick<ShownRequest, 'state' | 'retries' | 'attempts'>): boolean =>
  state === 'complete' && (retries > 0 || attempts.some(({ failure }) => failure !== undefined));
