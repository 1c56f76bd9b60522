import { CAPTURE_LIMITS } from '../../../core/process/captures-port.ts';
import type { AdminRoute } from './admin-route.ts';

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
    query: ['dry_run'],
    body: 'start_capture',
    answer: 'capture',
    status: 201,
  },
  'captures.delete': {
    ...admin,
    method: 'DELETE',
    path: '/captures/{id}',
    summary: 'End a capture, and drop what it has',
    query: ['dry_run', 'reason'],
    status: 204,
  },
};
