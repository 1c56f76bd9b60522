import type { RequestRecord } from './record.ts';

/** `rescued`: complete after a try or a target had failed. */
export const LISTED_STATES = ['running', 'complete', 'rescued', 'failed', 'aborted'] as const;
type ListedState = (typeof LISTED_STATES)[number];

/** A record as its JSON (json.ts), as far as filters and lists read it. */
export interface RecordJson {
  readonly [name: string]: unknown;
  readonly state?: string;
  readonly status?: number;
  readonly outcome_status?: number;
  readonly duration_ms?: number;
  readonly key_id?: string;
  readonly team?: string;
  readonly origin?: string;
  readonly alias?: string;
  readonly retries?: number;
  readonly config?: { readonly id: string };
  readonly error?: { readonly code?: string };
  readonly metadata?: Readonly<Record<string, string>>;
  readonly attempts?: readonly AttemptJson[];
  readonly skipped?: readonly object[];
  readonly left_out?: { readonly attempts?: number; readonly skipped?: number };
}

interface AttemptJson {
  readonly target?: string;
  readonly target_name?: string;
  readonly provider?: string;
  readonly request_model?: string;
  readonly response_model?: string;
  readonly answered?: boolean;
  readonly failure?: object;
  readonly tokens?: object;
  readonly prefixes?: object;
}

type Values = readonly (string | undefined)[];

const ofAttempts = (record: RecordJson, of: (attempt: AttemptJson) => Values): Values =>
  (record.attempts ?? []).flatMap(of);

/** `429` and `4xx`. */
const statusWords = (status: number | undefined): Values =>
  status === undefined ? [] : [String(status), `${Math.trunc(status / 100)}xx`];

/** A field that filters records: one of its values must be among the wanted ones. */
const DIMENSIONS = {
  key: ({ key_id: id }) => [id],
  team: ({ team }) => [team],
  config: ({ config }) => [config?.id],
  provider: (record) => ofAttempts(record, ({ provider }) => [provider]),
  model: (record) => [
    record.alias,
    ...ofAttempts(record, ({ request_model: asked, response_model: answered }) => [asked, answered]),
  ],
  target: (record) => ofAttempts(record, ({ target, target_name: name }) => [target, name]),
  status: ({ status, outcome_status: outcome }) => [...statusWords(status), ...statusWords(outcome)],
  error: ({ error }) => [error?.code],
  origin: ({ origin }) => [origin],
} as const satisfies Readonly<Record<string, (record: RecordJson) => Values>>;

type RecordDimension = keyof typeof DIMENSIONS;
export const RECORD_DIMENSIONS = Object.keys(DIMENSIONS) as readonly RecordDimension[];

/** Where a request is in a list: running ones come first, then ended ones, the latest first. */
export interface RecordPlace {
  readonly running: boolean;
  /** Milliseconds since 1970 of the arrival of a running request; a number that grows with each ended one. */
  readonly at: number;
}

/** Which requests a list has; unset fields match every request. Plain values: it goes to other processes. */
export interface RecordQuery extends Readonly<Partial<Record<RecordDimension, readonly string[]>>> {
  readonly limit: number;
  readonly after?: RecordPlace;
  /** Only what has come since a page with these marks: a page without `more`, which counts what exceeds the limit. */
  readonly newer?: RecordMarks;
  readonly state?: ListedState;
  /** Of the arrival, in milliseconds since 1970. */
  readonly since?: number;
  /** Excluded. */
  readonly until?: number;
  readonly minMs?: number;
  /** Values of metadata by their names. */
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  /** A text that the record has somewhere, in any case. */
  readonly text?: string;
  /** The lines are whole records. */
  readonly whole?: boolean;
}

/** The latest places of a list. */
export interface RecordMarks {
  /** As in `RecordPlace`. */
  readonly running: number;
  readonly ended: number;
}

export interface RecordPage {
  readonly lines: readonly PlacedLine[];
  readonly more: boolean;
  /** ISO 8601: when the oldest request that is kept arrived. Undefined: none is kept. */
  readonly oldest: string | undefined;
  /** For `newer` of the next page. */
  readonly marks: RecordMarks;
  /** Where the next page begins, if that is not behind the last line. */
  readonly last?: RecordPlace;
  /** With `newer`: requests beyond the limit. */
  readonly missed?: number;
}

export interface PlacedLine {
  readonly place: RecordPlace;
  readonly line: object;
}

/** A record cannot be looked up, because a process does not answer. */
export class RecordsUnanswered extends Error {}

/** Negative: `one` comes before `other`. */
export const comparePlaces = (one: RecordPlace, other: RecordPlace): number =>
  Number(other.running) - Number(one.running) || other.at - one.at;

/** Lines of one place stay on one page, which may exceed the limit: the next page begins after a place. */
export function isPageFull(lines: readonly PlacedLine[], next: RecordPlace, limit: number): boolean {
  const last = lines.at(-1);
  return lines.length >= limit && last !== undefined && comparePlaces(last.place, next) !== 0;
}

export const isRescued = ({ state, retries = 0, attempts = [] }: RecordJson): boolean =>
  state === 'complete' && (retries > 0 || attempts.some(({ failure }) => failure !== undefined));

/** Whether the state can be that of the query, before the record is written as JSON. */
export const mayHaveState = (state: RequestRecord['state'], wanted: ListedState | undefined): boolean =>
  wanted === undefined || state === (wanted === 'rescued' ? 'complete' : wanted);

/** The filters of a query that need the record as JSON. Undefined: there are none. */
export function recordFilter(query: RecordQuery): ((record: RecordJson) => boolean) | undefined {
  const { minMs, labels, state } = query;
  const text = query.text?.toLowerCase();
  const filters: ((record: RecordJson) => boolean)[] = [
    ...RECORD_DIMENSIONS.flatMap((name) => {
      const wanted = query[name];
      const valuesOf: (record: RecordJson) => Values = DIMENSIONS[name];
      return wanted
        ? [(record: RecordJson) => valuesOf(record).some((one) => one !== undefined && wanted.includes(one))]
        : [];
    }),
    ...(state === 'rescued' ? [isRescued] : []),
    ...(minMs === undefined ? [] : [({ duration_ms: ms = 0 }: RecordJson) => ms >= minMs]),
    ...Object.entries(labels ?? {}).map(
      ([name, wanted]) =>
        ({ metadata = {} }: RecordJson) =>
          Object.hasOwn(metadata, name) && wanted.includes(metadata[name]!),
    ),
    ...(text === undefined ? [] : [(record: RecordJson) => JSON.stringify(record).toLowerCase().includes(text)]),
  ];
  return filters.length === 0 ? undefined : (record) => filters.every((fits) => fits(record));
}

/** The request records as plain JSON, from this process or from all workers. */
export interface RecordSource {
  /** Rejects with `RecordsUnanswered`. */
  find(id: string): object | undefined | Promise<object | undefined>;
  /** `partial`: workers that did not answer. */
  page(query: RecordQuery): Promise<RecordPage & { readonly partial?: readonly number[] }>;
}
