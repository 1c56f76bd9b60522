import { CAPTURE_LIMITS } from '../../../core/process/captures-port.ts';
import type { Schema } from '../../../core/settings/schema/schema-files.ts';
import { flag, integer, list, moment, object, REASON, text, texts } from './schema-words.ts';

// Bodies and answers of the calls of capture-routes.ts.

const WORDS: Schema = {
  anyOf: [{ type: 'string', maxLength: 256 }, list({ type: 'string', maxLength: 256 }, { minItems: 1, maxItems: 20 })],
};

export const CAPTURE_BODIES = {
  start_capture: object(
    {
      where: {
        description:
          'Which requests, by the filters of `GET /requests`: `{"key": "search", "status": ["429", "5xx"]}`. Default: all.',
        type: 'object',
        additionalProperties: WORDS,
        maxProperties: 16,
        examples: [{ key: 'search' }],
      },
      requests: integer('It ends with so many.', { minimum: 1, maximum: CAPTURE_LIMITS.requests, default: 20 }),
      minutes: integer('It ends after so many.', { minimum: 1, maximum: CAPTURE_LIMITS.minutes, default: 10 }),
      reason: REASON,
    },
    [],
  ),
} satisfies Readonly<Record<string, Schema>>;

export const CAPTURE_ANSWERS = {
  capture: object({
    id: text('Of the capture.'),
    by: text('Who started it, as in the audit.'),
    where: { description: 'Which requests it takes.', type: 'object' },
    state: text('done: it has all it wanted, or its minutes are over.', { enum: ['running', 'done'] }),
    requests: integer('How many it wants.'),
    captured: integer('How many it has.'),
    too_large: integer('Requests that fitted and were larger than 2 MiB with their replies, or found no room.'),
    bytes: integer('Of what it has.'),
    started_at: moment('When.'),
    until: moment('When it ends.'),
    gone_at: moment('When nothing is left of it.'),
  }),
  record_case: object({
    file: text('In the folder of the settings.', { examples: ['gateway/production.test.yaml'] }),
    text: text('The file, with one case.'),
    passes: flag('The case passes with the settings in force.'),
    notes: texts('In what it differs from the request, and why it does not pass.'),
  }),
  record_curl: object({
    command: text('For a shell, which has the key in `GATEWAY_KEY`.'),
    kept: flag('The body is the one of the client; false: it has its model, and `[text]` in place of its messages.'),
  }),
} satisfies Readonly<Record<string, Schema>>;
