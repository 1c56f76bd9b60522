import type { Attempt, Exchange } from '../kernel/index.ts';
import { recordOf } from '../record/make-record.ts';
import type { RecordEnd } from '../record/attempt-end.ts';
import type { RecordedAttempt, RecordTimes, RequestRecord } from '../record/record.ts';
import type { LoadResult, Settings } from '../settings/read/load.ts';
import type { DryCall } from './calls.ts';

/** The outcome of a request in a dry run: the record that serving makes, and what a record leaves out. */
export interface DryRun {
  readonly record: RequestRecord;
  /** The request after its run: bodies, headers, messages of errors. */
  readonly exchange: Exchange;
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly attempts: readonly DryAttempt[];
}

export interface DryAttempt {
  readonly attempt: Attempt;
  /** The same attempt in the record. */
  readonly recorded: RecordedAttempt;
  /** In order, including retries. Empty when the attempt was rejected before anything was sent. */
  readonly calls: readonly DryCall[];
}

interface DryRunParts extends Pick<DryRun, 'exchange' | 'loaded' | 'settings'> {
  readonly end: RecordEnd;
  readonly times: RecordTimes;
  readonly calls: readonly DryCall[];
}

export function dryRunOf({ exchange, loaded, settings, end, times, calls }: DryRunParts): DryRun {
  const record = recordOf(exchange, end, times);
  const attempts = exchange.attempts.map((attempt, index) => ({
    attempt,
    recorded: record.attempts[index]!,
    calls: calls.filter((call) => call.attempt === attempt),
  }));
  return { record, exchange, loaded, settings, attempts };
}
