import type { Schema } from '../../../core/settings/schema/schema-files.ts';
import { CAPTURE_LIMITS } from '../../../core/process/captures-port.ts';
import type { AdminRoute } from './admin-route.ts';
import { flag, integer, list, moment, object, REASON, text } from './schema-words.ts';

export type CaptureOperation = `captures.${'list' | 'get' | 'start' | 'delete'}` | `requests.${'test' | 'curl'}`;

const admin = { role: 'admin', status: 200 } as const;
const asked = { method: 'GET', role: 'viewer', status: 200, query: ['texts', 'reason'], explains: true } as const;

/** The calls that make tests and commands out of requests. */
export const CAPTURE_ROUTES: Readonly<Record<CaptureOperation, AdminRoute>> = {
  'requests.test': {
    ...asked,
    path: '/requests/{id}/test',
    summary: 'Make a case of `gatehouse test` out of a request',
    description:
      'The case has the key, the metadata and the targets of the record, and an answer for each try. It was run with the settings in force: `passes`. With `Accept: text/plain` the answer is the YAML alone. `texts` and `reason` as in `GET /explain/{id}`.',
    answer: 'record_case',
  },
  'requests.curl': {
    ...asked,
    path: '/requests/{id}/curl',
    summary: 'Write a request as a command of a shell, without its key',
    answer: 'record_curl',
  },
  'captures.list': {
    ...admin,
    method: 'GET',
    path: '/captures',
    summary: 'List the captures, with how far they are',
    description: 'This takes the right `content`, as all calls of captures.',
    answer: 'capture',
    pages: true,
  },
  'captures.get': {
    ...admin,
    method: 'GET',
    path: '/captures/{id}',
    summary: 'Fetch a capture: the bytes of requests, upstreams and replies, with their times',
    description:
      'A file for `gatehouse replay` and for `upstream: { replay: FILE }` of a test: JSON lines, a request a line behind the head. Each character of a credential is `*`.',
    streams: 'application/jsonl',
    query: ['reason'],
  },
  'captures.start': {
    ...admin,
    method: 'POST',
    path: '/captures',
    summary: 'Capture requests whose records fit, as they end',
    description: `At most ${CAPTURE_LIMITS.requests} requests in ${CAPTURE_LIMITS.minutes} minutes. They are in memory alone, and gone 10 minutes after these minutes, or when the gateway ends.`,
    body: 'start_capture',
    answer: 'capture',
    status: 201,
  },
  'captures.delete': {
    ...admin,
    method: 'DELETE',
    path: '/captures/{id}',
    summary: 'End a capture, and drop what it has',
    query: ['reason'],
    status: 204,
  },
};

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
    notes: list({ type: 'string' }, { description: 'In what it differs from the request, and why it does not pass.' }),
  }),
  record_curl: object({
    command: text('For a shell, which has the key in `GATEWAY_KEY`.'),
    kept: flag('The body is the one of the client; false: it has its model, and `[text]` in place of its messages.'),
  }),
} satisfies Readonly<Record<string, Schema>>;
