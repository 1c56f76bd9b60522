import { definePlugin, type Exchange, type GuardVerdict } from '../../../../core/kernel/index.ts';

const DENIED = 446;
const FOUND = 246;

/** Writes decisions of guards as Portkey does: as a status and as `hook_results` of the body. */
export default definePlugin({
  name: 'portkey-statuses',
  level: 'entry',
  pure: true,
  explain({ exchange }) {
    const status = statusOf(exchange);
    return status === undefined ? undefined : { does: `answers ${status}` };
  },
  create: () => async (ctx, next) => {
    await next();
    const { exchange } = ctx;
    const { reply, guards = [] } = exchange;
    const status = statusOf(exchange);
    if (!reply || !status) return;
    reply.status = status;
    if (reply.form !== 'json' || !Buffer.isBuffer(reply.body)) return;
    const body = withResults(reply.body, guards);
    reply.body = body;
    reply.headers['content-length'] = String(body.length);
  },
});

function statusOf({ reply, error, guards = [] }: Exchange): number | undefined {
  if (error) return error.code === 'guard_denied' ? DENIED : undefined;
  return reply?.status === 200 && guards.some(isFound) ? FOUND : undefined;
}

/** Portkey's verdict is about the check, whatever follows from it; a check that replaces texts passes. */
const isFound = ({ verdict }: GuardVerdict): boolean => verdict === 'observed' || verdict === 'denied';

/** A body that is one object of JSON, with one more field: its other bytes stay. */
function withResults(body: Buffer, guards: readonly GuardVerdict[]): Buffer {
  const end = body.lastIndexOf('}');
  if (end < 0 || body[0] !== BRACE) return body;
  const resultsOn = (side: GuardVerdict['on']) => guards.filter(({ on }) => on === side).map(resultOf);
  const results = { before_request_hooks: resultsOn('input'), after_request_hooks: resultsOn('output') };
  const comma = body.subarray(1, end).some((byte) => byte > SPACE) ? ',' : '';
  return Buffer.concat([body.subarray(0, end), Buffer.from(`${comma}"hook_results":${JSON.stringify(results)}}`)]);
}

const BRACE = '{'.charCodeAt(0);
const SPACE = ' '.charCodeAt(0);

function resultOf(decision: GuardVerdict) {
  const verdict = { id: decision.guard, verdict: !isFound(decision), transformed: decision.verdict === 'masked' };
  return { ...verdict, type: 'guardrail', deny: decision.action === 'deny', async: false, checks: [verdict] };
}
