import type { BoundedRecord } from './bounded-record.ts';
import { valuesOf } from './fields/values.generated.ts';
import { isRescued, type RecordJson } from './record-query.ts';
import { scrub } from './scrub.ts';

/** With credentials that a caller may have put into its path or model: for filters alone. */
export const rawRecord: (record: BoundedRecord) => RecordJson = valuesOf;

export const recordText = (record: BoundedRecord): string => scrub(JSON.stringify(rawRecord(record)));

/** A record as the admin listener's JSON, without credentials. */
export const recordJson = (record: BoundedRecord): RecordJson => JSON.parse(recordText(record)) as RecordJson;

/** Fields of a record that its line in a list has as well. */
const IN_LISTS = [
  'request_id',
  'time',
  'ended',
  'state',
  'status',
  'duration_ms',
  'first_content_ms',
  'route',
  'key_id',
  'team',
  'alias',
  'metadata',
  'stream',
  'cache',
  'cost_usd',
  'explain_id',
  'origin',
  'error',
];

export function recordLine(record: RecordJson): object {
  const { config, attempts = [], skipped = [], retries, left_out } = record;
  const last = attempts.at(-1);
  const answered = attempts.find((attempt) => attempt.answered);
  const fields = {
    ...Object.fromEntries(IN_LISTS.map((name) => [name, record[name]])),
    rescued: isRescued(record) || undefined,
    config_id: config?.id,
    provider: last?.provider,
    request_model: last?.request_model,
    target: last?.target,
    target_name: last?.target_name,
    tokens: answered?.tokens,
    prefixes: answered?.prefixes,
    attempts: attempts.length + (left_out?.attempts ?? 0),
    retries,
    skipped: skipped.length + (left_out?.skipped ?? 0),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
