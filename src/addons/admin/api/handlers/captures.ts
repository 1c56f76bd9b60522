import type { Captures } from '../../../../core/process/captures-port.ts';
import type { CaptureOperation } from '../capture-routes.ts';
import { actorOf, type Call, type Handler } from '../call.ts';
import { REQUEST_FILTERS } from '../console-routes.ts';
import { CallQuery } from '../parameters.ts';
import { ApiProblem } from '../problems.ts';
import { curlOfRequest, testOfRequest } from './request-case.ts';
import { recordQuery } from './requests.ts';

/** Throws without the right to read texts, and where the build has no captures. */
function capturesOf({ identity, sources }: Call): Captures {
  if (!identity.content)
    throw new ApiProblem('forbidden', 'Captures take the right `content`: of `admin.content`, or of a token.');
  if (sources.captures) return sources.captures;
  throw new ApiProblem('not_found', 'This build has no add-on captures.');
}

/** The audit has who captured, who read it and who ended it. Rejects with `StateFailure` while the store does not answer. */
async function audit(
  call: Call,
  action: 'start' | 'read' | 'delete',
  more: { id: string; after?: string; reason?: string },
) {
  const objects = await call.readObjects();
  if (!objects.isStateful) return;
  await objects.store.audit.add({ action, kind: 'captures', ...more }, actorOf(call));
}

const NOT_THERE =
  'There is no capture with this id: its time is over, somebody has ended it, or the gateway was restarted.';

interface StartBody {
  readonly where?: Readonly<Record<string, string | readonly string[]>>;
  readonly requests?: number;
  readonly minutes?: number;
  readonly reason?: string;
}

const startCapture: Handler = async (call) => {
  const captures = capturesOf(call);
  const { where = {}, requests = 20, minutes = 10, reason } = call.body as StartBody;
  const filters = Object.entries(where).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  const { limit: _, ...query } = recordQuery(
    CallQuery.read(new URLSearchParams(filters).toString(), REQUEST_FILTERS),
    call.clock.wall(),
  );
  // Before anything is captured that the audit does not have.
  const after = JSON.stringify({ where, requests, minutes });
  if (!call.query.dryRun)
    await audit(call, 'start', { id: 'captures', after, ...(reason !== undefined && { reason }) });
  const wish = { query, where, requests, minutes, by: call.identity.actor.id };
  const state = await captures.start(call.sources.ask, wish, call.query.dryRun);
  if (!state) throw new ApiProblem('busy', 'There are 4 captures already: end one of them.');
  return { body: state };
};

const reasonIn = ({ query }: Call): { reason?: string } => {
  const reason = query.one('reason');
  return reason === undefined ? {} : { reason };
};

const fetchCapture: Handler = async (call) => {
  const file = capturesOf(call).file(call.id);
  if (!file) throw new ApiProblem('not_found', NOT_THERE);
  await audit(call, 'read', { id: call.id, ...reasonIn(call) });
  return {
    headers: { 'content-disposition': `attachment; filename="${call.id}.jsonl"` },
    stream: { type: 'application/jsonl; charset=utf-8', pieces: inTurns(file) },
  };
};

/** Other calls are answered between the lines. */
async function* inTurns(lines: Iterable<string>): AsyncIterable<string> {
  for (const line of lines) yield line;
}

const endCapture: Handler = async (call) => {
  const captures = capturesOf(call);
  if (!captures.list().some(({ id }) => id === call.id)) throw new ApiProblem('not_found', NOT_THERE);
  if (call.query.dryRun) return {};
  await audit(call, 'delete', { id: call.id, ...reasonIn(call) });
  await captures.end(call.id);
  return {};
};

export const CAPTURE_HANDLERS: Readonly<Record<CaptureOperation, Handler>> = {
  'requests.test': testOfRequest,
  'requests.curl': curlOfRequest,
  'captures.list': (call) => ({ body: { items: capturesOf(call).list() } }),
  'captures.get': fetchCapture,
  'captures.start': startCapture,
  'captures.delete': endCapture,
};
