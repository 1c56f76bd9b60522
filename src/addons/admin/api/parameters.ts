import { LEDGER_DIMENSIONS } from '../../../core/ports/ledger.ts';
import { parseDuration, readMoment } from '../../../core/kernel/units.ts';
import { ERROR_LABELS } from '../../../core/record/error-types.ts';
import { STATS_DIMENSIONS, STATS_STEPS } from '../../../core/process/console-port.ts';
import { LISTED_STATES } from '../../../core/record/record-query.ts';
import { ApiProblem } from './problems.ts';

interface Parameter {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** May occur up to 20 times. */
  readonly many?: true;
}

type Shape = Parameter['schema'];
const parameter = (description: string, schema: Shape): Parameter => ({ description, schema });
const text = (description: string, more: Shape = {}): Parameter =>
  parameter(description, { type: 'string', maxLength: 256, ...more });
const oneOf = (description: string, words: readonly string[], more: Shape = {}): Parameter =>
  parameter(description, { type: 'string', enum: words, ...more });
const flag = (description: string): Parameter => parameter(description, { type: 'boolean', default: false });
const time = (description: string): Parameter => parameter(description, { type: 'string', format: 'date-time' });
const dimension = (what: string): Parameter => ({ ...text(`Only ${what}. May occur up to 20 times.`), many: true });

const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 50;
const WORD = { maxLength: 64 } as const;

export const PARAMETERS = {
  limit: parameter('Items of a page.', { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT }),
  // It has the names of the last item, each character of which may be seven.
  cursor: text('`next` of the page before.', { maxLength: 8192 }),
  dry_run: flag('`true`: check the call and answer as if it were done, but change nothing.'),
  reason: text('The reason, for the audit.', { maxLength: 500 }),
  node: text('Only budgets of this node, such as `team:search`.'),
  from: time(
    'Start of the time, such as 2026-11-01 or 2026-11-01T00:00:00Z. Default: 24 hours before `to`; of stats, an hour.',
  ),
  to: time('End of the time, excluded. Default: now.'),
  step: oneOf('Sums by hour or day, or one for the whole time.', ['hour', 'day', 'all'], { default: 'day' }),
  time_zone: text(
    'IANA time zone of days, and of `from` and `to` where they are dates, such as Europe/Berlin; its offset is whole hours. Default: UTC.',
    WORD,
  ),
  by: text(
    `What the sums are grouped by, separated by commas: ${LEDGER_DIMENSIONS.join(', ')}, provider, label.NAME (of \`state.ledger_labels\`). Of stats, one of ${STATS_DIMENSIONS.join(', ')}. Default: nothing.`,
  ),
  format: oneOf(
    'csv or jsonl: all rows as a file, without pages; focus, of usage: as CSV with the columns of FOCUS 1.2. The audit has a row of it.',
    ['json', 'csv', 'jsonl', 'focus'],
    { default: 'json' },
  ),
  key: dimension('these keys'),
  user: dimension('these users'),
  team: dimension('these teams'),
  organization: dimension('these organizations'),
  config: dimension('these gateway configs'),
  model: dimension('these models'),
  status: dimension('these outcomes; of requests, these statuses, such as `429` or `5xx`'),
  src: dimension('rows with figures from this source: `told`, `estimated`, `none` or `lost`'),
  kind: dimension('rows of this kind: `try`, `hit`, `adjustment` or `expired`'),
  provider: dimension('requests that tried these catalog entries'),
  target: dimension('requests that tried these targets, by name or place, such as `primary` or `config.targets[1]`'),
  state: oneOf('Only requests in this state. `rescued`: complete after a try or a target had failed.', LISTED_STATES),
  error: {
    ...oneOf(
      'Only requests that ended with these codes of errors. May occur up to 20 times.',
      Object.keys(ERROR_LABELS),
    ),
    many: true,
  },
  origin: oneOf('Only requests of the playground of the console.', ['playground']),
  since: text('Only requests that arrived since this time: 2026-11-01T00:00:00Z, or `15m` before now.', WORD),
  until: text('Only requests that arrived before this time, written as in `since`.', WORD),
  min_ms: parameter('Only requests that took at least this many milliseconds.', {
    type: 'integer',
    minimum: 0,
    maximum: 999_999_999,
  }),
  'label.NAME': dimension('requests whose metadata have this value of NAME: `label.app=search`'),
  q: text('Only requests whose record has this text, in upper or lower case: an id, or words of a vendor.', {
    minLength: 1,
  }),
  texts: flag('`true`: with the texts of the request. Default: `[text, 24 characters]` in their place.'),
  path: text('A file in the folder of the settings, such as `gateway/production.yaml`.'),
  hash: text('The hash of the settings. Others than those in force get 404.', { maxLength: 128 }),
  topics: text('Which events, separated by commas: requests, settings. Default: all.', WORD),
  step_s: oneOf(
    'Seconds of a step. Default: the shortest with at most 600 steps that begin at `from`, or as early as any do.',
    STATS_STEPS.map(String),
  ),
  object_kind: text('Only rows about this kind of object, such as `keys`.', WORD),
  object_id: text('Only rows about objects with this id.'),
  head: parameter(
    'The number and the hash of the row that was the last one at some time, as `SEQ:HASH`. The log has them.',
    { type: 'string', pattern: '^\\d{1,15}:(?:[0-9a-f]{16}\\.)?[0-9a-f]{64}$' },
  ),
} as const satisfies Readonly<Record<string, Parameter>>;

export type ParameterName = keyof typeof PARAMETERS;

const MANY = 20;
const DURATION = /^\d{1,6}(?:ms|s|m|h)$/;

export const LABEL = 'label.';

/** The query of a call. Unknown parameters are refused: with an ignored filter the answer would be to another question. */
export class CallQuery {
  readonly #values: ReadonlyMap<ParameterName, readonly string[]>;
  readonly labels: Readonly<Record<string, readonly string[]>>;

  private constructor(values: ReadonlyMap<ParameterName, readonly string[]>, labels: CallQuery['labels']) {
    this.#values = values;
    this.labels = labels;
  }

  static read(text: string, allowed: readonly ParameterName[]): CallQuery {
    const values = new Map<ParameterName, string[]>();
    const labels = new Map<string, string[]>();
    for (const [given, value] of new URLSearchParams(text)) {
      const name = allowed.find((one) => one === (given.startsWith(LABEL) ? 'label.NAME' : given));
      if (name === undefined)
        throw new ApiProblem(
          'invalid_query',
          allowed.length === 0
            ? 'This call takes no query.'
            : `There is no parameter \`${given.slice(0, 100)}\` here; there are ${allowed.join(', ')}.`,
        );
      values.set(name, [...(values.get(name) ?? []), checked(name, value)]);
      const label = given.slice(LABEL.length);
      if (name === 'label.NAME') labels.set(label, [...(labels.get(label) ?? []), value]);
    }
    for (const [name, list] of values) {
      const { many } = PARAMETERS[name];
      if (list.length > (many ? MANY : 1))
        throw new ApiProblem(
          'invalid_query',
          many ? `\`${name}\` may occur ${MANY} times.` : `\`${name}\` may occur once.`,
        );
    }
    return new CallQuery(values, Object.fromEntries(labels));
  }

  all(name: ParameterName): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  one(name: ParameterName): string | undefined {
    return this.#values.get(name)?.[0];
  }

  get limit(): number {
    return Number(this.one('limit') ?? DEFAULT_LIMIT);
  }

  get dryRun(): boolean {
    return this.one('dry_run') === 'true';
  }

  /** Milliseconds since 1970. */
  moment(name: 'from' | 'to'): number | undefined {
    const text = this.one(name);
    return text === undefined ? undefined : readMoment(text);
  }

  /** Milliseconds since 1970: a moment, or a duration before now. */
  before(name: 'since' | 'until', now: number): number | undefined {
    const text = this.one(name);
    if (text === undefined) return undefined;
    const moment = DURATION.test(text) ? now - parseDuration(text) : readMoment(text);
    if (moment !== undefined) return moment;
    throw new ApiProblem(
      'invalid_query',
      `\`${name}\` must be a time such as 2026-11-01T00:00:00Z, or 15m before now.`,
    );
  }
}

function checked(name: ParameterName, value: string): string {
  const { schema } = PARAMETERS[name];
  const wanted = wantedOf(schema, value);
  if (wanted !== undefined) throw new ApiProblem('invalid_query', `\`${name}\` must be ${wanted}.`);
  return value;
}

/** The form that the value must have; undefined: it has it. */
function wantedOf(schema: Parameter['schema'], value: string): string | undefined {
  const { type, minLength = 0, maxLength, minimum, maximum, format } = schema;
  const words = schema['enum'];
  if (Array.isArray(words)) return words.includes(value) ? undefined : `one of ${words.join(', ')}`;
  if (type === 'boolean') return value === 'true' || value === 'false' ? undefined : 'true or false';
  if (format === 'date-time')
    return readMoment(value) !== undefined && Date.parse(value) >= 0
      ? undefined
      : 'a moment such as 2026-11-01T00:00:00Z, not before 1970';
  if (type === 'integer') {
    const isWithin = /^\d{1,9}$/.test(value) && Number(value) >= Number(minimum) && Number(value) <= Number(maximum);
    return isWithin ? undefined : `a number from ${Number(minimum)} to ${Number(maximum)}`;
  }
  if (value.length < Number(minLength)) return 'a text';
  return typeof maxLength === 'number' && value.length > maxLength ? `at most ${maxLength} characters` : undefined;
}
