import type { BoundedRecord } from './bounded-record.ts';
import { ValueReader, type StoredValue } from './fields/record-field.ts';
import { REQUEST_FIELDS } from './fields/request-fields.ts';
import { valuesNamer, valuesStorer } from './fields/stored-values.ts';
import { isRescued, type RecordJson } from './record-query.ts';
import { scrub } from './scrub.ts';

const storeValues = valuesStorer(REQUEST_FIELDS);
const named = valuesNamer(REQUEST_FIELDS);

/** A record as it is stored: the values of its fields as one flat list. */
export type StoredRecord = readonly StoredValue[];

/** Every record is written into this list first, because the length of its own list is known only afterwards. */
const gathered: StoredValue[] = [];

/**
 * Makes the list of a record's values. Writing the record as JSON instead would take 1.2 µs more (measured). Keeping
 * the record itself would leave the garbage collector twenty objects to copy. The list is one object, and most of its
 * values are integers, or texts that many records share.
 */
export function storedRecord(record: BoundedRecord): StoredValue[] {
  const length = storeValues(record, gathered, 0);
  return gathered.slice(0, length);
}

/** Stores a record in the list of another. */
export function storeAgain(record: BoundedRecord, list: StoredValue[]): void {
  list.length = storeValues(record, list, 0);
}

/** A stored record as the admin listener's JSON, without credentials, which a caller may write into its path or model. */
export function recordJson(stored: StoredRecord): RecordJson {
  return JSON.parse(scrub(JSON.stringify(named(new ValueReader(stored))))) as RecordJson;
}

/** As `recordJson` and much faster, but with the credentials that a caller may have written: for filters, and for nothing that is shown. */
export const rawRecord = (stored: StoredRecord): RecordJson => named(new ValueReader(stored));

/** A record as one line of JSON, without credentials. */
export const recordText = (record: BoundedRecord): string =>
  scrub(JSON.stringify(named(new ValueReader(storedRecord(record)))));

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
  'error',
];

/** A record as one line of a list. */
export function recordLine(record: RecordJson): object {
  const { config, attempts = [], skipped = [], retries, left_out } = record;
  const last = attempts.at(-1);
  const fields = {
    ...Object.fromEntries(IN_LISTS.map((name) => [name, record[name]])),
    rescued: isRescued(record) || undefined,
    config_id: config?.id,
    provider: last?.provider,
    request_model: last?.request_model,
    target: last?.target,
    target_name: last?.target_name,
    tokens: attempts.find(({ answered }) => answered)?.tokens,
    attempts: attempts.length + (left_out?.attempts ?? 0),
    retries,
    skipped: skipped.length + (left_out?.skipped ?? 0),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
