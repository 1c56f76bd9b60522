import type { Schema } from '../../../core/settings/schema/schema-files.ts';
import { flag, integer, list, moment, nullable, number, object, text } from './schema-words.ts';

const open = (description: string): Schema => ({ description, type: 'object' });

const STATE = text('`running`: it has not ended.', { enum: ['complete', 'failed', 'aborted', 'running'] });

/** Fields that the record of a request and its line in a list share. */
const COMMON = {
  request_id: text('As in the log, in the ledger and in `x-gateway-request-id`.'),
  worker: integer('The worker that served it, of several.'),
  time: moment('Of the arrival.'),
  ended: moment('Absent while it runs.'),
  explain_id: text('For `GET /explain/{id}`.'),
  state: STATE,
  status: integer('That was sent; 499: the client left first.'),
  duration_ms: number('Until now while it runs.'),
  first_content_ms: number('Until the first content of the reply.'),
  route: text('The path of the operation.'),
  key_id: text('The id of the key.'),
  team: text('The team of the key.'),
  alias: text('The alias that the request named as its model.'),
  metadata: open('Of the caller and of its key.'),
  stream: flag('Whether the reply is a stream.'),
  cache: text('The result of the cache.'),
  cost_usd: number('Of all attempts.'),
  error: open('`code`, as the client got it; `type`, as in metrics.'),
  origin: text('`playground`: a person sent it through the console.'),
} as const;

export const REQUEST_LINE_SCHEMA: Schema = object(
  {
    ...COMMON,
    rescued: flag('It is complete after a try or a target had failed.'),
    config_id: text('The gateway config.'),
    provider: text('The catalog entry of the last attempt.'),
    request_model: text('The model of the last attempt.'),
    target: text('The place of the last target, such as `config.targets[1]`.'),
    target_name: text('Its name, if it has one.'),
    tokens: open('Of the attempt that answered.'),
    prefixes: open('Keyed hashes of its prompt, with `telemetry.prefix_hashes`.'),
    attempts: integer('Targets that were tried.'),
    retries: integer('Of all attempts.'),
    skipped: integer('Targets that were skipped.'),
  },
  ['request_id', 'time', 'state', 'duration_ms', 'stream', 'attempts', 'retries', 'skipped'],
);

const COST = {
  provider: text('The catalog entry.'),
  model: text('The model there.'),
  cost_usd: nullable(number('Null: unknown, which is not 0.')),
  unknown: text('Why it is unknown: `model`, `date`, `tier` or `kind` has no price, or nothing was counted (`usage`).'),
} as const;

export const REQUEST_COSTS_SCHEMA: Schema = object({
  request_id: COMMON.request_id,
  tokens: {
    ...open('Of the attempt that answered, as in the record. Null: none were counted.'),
    type: ['object', 'null'],
  },
  cost_usd: nullable(number('Of the request, as in the record.')),
  targets: list(
    object(
      {
        target: text('Its place, such as `config.targets[1]`.'),
        target_name: text('Its name, if it has one.'),
        ...COST,
        answered: flag('It answered the request.'),
      },
      ['target', 'cost_usd'],
    ),
    { description: 'Those of the gateway config, and those that the record names; at most 64.' },
  ),
  models: list(object(COST, ['provider', 'model', 'cost_usd']), {
    description: 'The cheapest first, those with an unknown cost last; at most 1,000.',
  }),
  left_out: integer('Models beyond these.'),
});

/** The record of a request: docs/operate/records.md has all its fields. */
export const REQUEST_SCHEMA: Schema = {
  description: 'The record of a request: docs/operate/records.md. Its fields may grow in number.',
  type: 'object',
  required: ['request_id', 'time', 'state', 'duration_ms', 'attempts', 'skipped'],
  properties: {
    ...COMMON,
    attempts: list(
      {
        type: 'object',
        required: ['target', 'why', 'outcome', 'tries'],
        properties: {
          target: text('Its place, such as `config.targets[1]`.'),
          target_name: text('Its name, if it has one.'),
          provider: text('The catalog entry.'),
          request_model: text('The model.'),
          why: text('Why it was chosen.'),
          started_ms: number('After the arrival.'),
          duration_ms: number('Of all its tries.'),
          outcome: text('How it ended.', { enum: ['success', 'error', 'aborted', 'running'] }),
          failure: open('Why it failed, in the words of the vendor too.'),
          tries: list(open('One physical request.')),
        },
      },
      { description: 'Every target that was tried, in order.' },
    ),
    model: text('As the caller named it.'),
    draws: list({ type: 'number' }, { description: 'Random numbers of load balances, in order.' }),
    skipped: list(open('`target`, `reason` and `after`, the number of attempts before it.')),
  },
};
