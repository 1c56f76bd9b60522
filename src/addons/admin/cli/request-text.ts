import { isObject } from '../../../core/kernel/index.ts';

// The record of a request as text: a head, and a timeline of its attempts, tries and waits.

type RecordObject = Readonly<Record<string, unknown>>;

const objects = (value: unknown): readonly RecordObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
const word = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
const under = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

/** `name value`; undefined without a value. */
function named(name: string, value: unknown): string | undefined {
  const text = word(value);
  return text === undefined ? undefined : `${name} ${text}`;
}

const joined = (parts: readonly (string | undefined)[], between = '  '): string =>
  parts.filter((part) => part !== undefined && part !== '').join(between);

const ms = (value: unknown): string => (typeof value === 'number' ? `${Math.round(value)} ms` : '');
const usd = (value: unknown): string | undefined => (typeof value === 'number' ? `$${value}` : undefined);

/** Several lines that end with a line feed. */
export function requestText(record: RecordObject): string {
  const attempts = objects(record['attempts']);
  const lines = [
    ...headOf(record),
    ...objects(record['conditions']).map((one) =>
      at(undefined, joined([word(one['at']), named('held:', one['held']), named('→', one['to'])])),
    ),
    ...attempts.flatMap((attempt, index) => [...skippedOf(record, index), ...attemptLines(attempt, index + 1)]),
    ...skippedOf(record, attempts.length),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function headOf(record: RecordObject): readonly string[] {
  const { error, config } = record;
  const status = record['outcome_status'] ?? record['status'];
  const how = joined([word(record['state']), word(status), word(under(error, 'code'))], ' ');
  const first =
    record['first_content_ms'] === undefined ? undefined : `first content after ${ms(record['first_content_ms'])}`;
  return [
    joined([`request ${word(record['request_id'])}`, how, ms(record['duration_ms']), first, usd(record['cost_usd'])]),
    joined([word(record['time']), joined([word(record['method']), word(record['path'])], ' ')]),
    joined([
      named('key', record['key_id']),
      named('team', record['team']),
      named('config', under(config, 'id')),
      named('alias', record['alias']),
      named('limited by', record['limited_by']),
      named('plugin', under(error, 'plugin')),
      named('client left while', record['client_left']),
      named('worker', record['worker']),
    ]),
    joined([named('explain: gatehouse admin requests explained', record['explain_id'])]),
  ].filter((line) => line !== '');
}

const AT = 11;
const at = (started: unknown, text: string): string => `${ms(started).padStart(AT)}  ${text}`;

const nameOf = (target: RecordObject): string =>
  joined(
    [
      word(target['target_name']) ?? word(target['target']),
      target['target_name'] === undefined ? '' : `(${word(target['target'])})`,
    ],
    ' ',
  );

const skippedOf = ({ skipped }: RecordObject, attempts: number): readonly string[] =>
  objects(skipped)
    .filter(({ after }) => after === attempts)
    .map((one) => at(undefined, joined([`skipped ${nameOf(one)}`, slug(one['provider']), word(one['reason'])])));

const slug = (provider: unknown): string | undefined =>
  word(provider) === undefined ? undefined : `@${word(provider)}`;

function attemptLines(attempt: RecordObject, number: number): readonly string[] {
  const tries = objects(attempt['tries']);
  const place = joined([slug(attempt['provider']), word(attempt['request_model'])], '/');
  const tokens = isObject(attempt['tokens']) ? attempt['tokens'] : {};
  return [
    at(
      attempt['started_ms'],
      joined([
        `attempt ${number}: ${nameOf(attempt)}`,
        place,
        named('because:', attempt['why']),
        named('cache', attempt['cache']),
        `${word(attempt['outcome'])} after ${ms(attempt['duration_ms'])}`,
        named('in', tokens['input']),
        named('out', tokens['output']),
        usd(attempt['cost_usd']),
      ]),
    ),
    ...tries.map((one, index) => at(one['started_ms'], tryText(one, index + 1))),
    ...failureLines(attempt['failure']),
    ...texts(attempt['losses']).map((loss) => at(undefined, `  lost ${loss}`)),
  ];
}

const tryText = (one: RecordObject, number: number): string =>
  joined([
    `  try ${number}`,
    word(one['status']),
    word(under(one['error'], 'code')) ?? word(one['outcome']),
    `after ${ms(one['duration_ms'])}`,
    one['waited_ms'] === undefined ? undefined : `waited ${ms(one['waited_ms'])} before`,
    one['in_line_ms'] === undefined ? undefined : `${ms(one['in_line_ms'])} in line for a connection`,
    one['resent'] === true ? 'sent again: a kept connection had died' : undefined,
  ]);

function failureLines(failure: unknown): readonly string[] {
  if (!isObject(failure)) return [];
  const vendor = joined([
    named('kind', failure['upstream_kind']),
    named('code', failure['upstream_code']),
    named('parameter', failure['upstream_param']),
    failure['retry_after_ms'] === undefined ? undefined : `asks to wait ${ms(failure['retry_after_ms'])}`,
  ]);
  const message = word(failure['upstream_message']);
  return [
    at(
      undefined,
      `  failed: ${joined(
        [
          word(failure['code']),
          named(
            'of',
            texts(failure['kinds'])
              .filter((kind) => kind !== failure['code'])
              .join(', ') || undefined,
          ),
        ],
        ' ',
      )}`,
    ),
    ...(vendor === '' ? [] : [at(undefined, `  vendor: ${vendor}`)]),
    ...(message === undefined ? [] : [at(undefined, `  vendor: ${JSON.stringify(message)}`)]),
  ];
}
