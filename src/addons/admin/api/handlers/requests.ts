import { BadQuestion, type ExplainOutcome, type QuestionBody } from '../../../../core/process/explain-port.ts';
import {
  LISTED_STATES,
  RECORD_DIMENSIONS,
  RecordsUnanswered,
  type RecordJson,
  type RecordPlace,
  type RecordQuery,
} from '../../../../core/record/record-query.ts';
import { parseJson } from '../../../../formats/json/object.ts';
import { parseCallBody } from '../call-body.ts';
import { actorOf, type Call, type CallAnswer, type Handler } from '../call.ts';
import { readCursor, toCursor } from '../pages.ts';
import type { CallQuery } from '../parameters.ts';
import { ApiProblem } from '../problems.ts';
import { invalidBody } from '../schemas.ts';
import { comparesTexts, continuesEarlier } from './earlier-texts.ts';

export const listRequests: Handler = async ({ records, query, clock, console }) => {
  const asked = recordQuery(query, clock.wall());
  const pageOf = () => console?.kept?.page(asked, records) ?? records.page(asked);
  const { lines, more, oldest = null, partial = [], marks, last: scanned } = await pageOf();
  const last = scanned ?? lines.at(-1)?.place;
  const items = lines.map(({ line }) => line);
  const next = more && last ? { next: toCursor(`${last.running ? 'running' : 'ended'}:${last.at}`) } : {};
  return { body: { items, ...next, oldest, partial, live: String(marks.ended) } };
};

export const getRequest: Handler = async (call) => ({ body: await recordOf(call) });

/** Throws `not_found`. */
export async function recordOf({
  records,
  id,
  console,
}: Pick<Call, 'records' | 'id' | 'console'>): Promise<RecordJson> {
  const record = (await found(records.find(id))) ?? (await console?.kept?.find(id));
  // The JSON of a record of this gateway.
  if (record) return record as RecordJson;
  throw new ApiProblem(
    'not_found',
    'There is no record of a request with this id: it never arrived, or `admin.records` later requests have replaced it.',
  );
}

async function found(record: object | undefined | Promise<object | undefined>): Promise<object | undefined> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof RecordsUnanswered) throw new ApiProblem('busy', error.message);
    throw error;
  }
}

export function recordQuery(query: CallQuery, now: number): RecordQuery {
  const { limit, labels } = query;
  const cursor = readCursor(query);
  const state = LISTED_STATES.find((one) => one === query.one('state'));
  const [since, until, minMs] = [query.before('since', now), query.before('until', now), query.one('min_ms')];
  const text = query.one('q');
  const wrong = query.all('status').find((status) => !/^[1-5](?:\d\d|xx)$/.test(status));
  if (wrong !== undefined) throw new ApiProblem('invalid_query', '`status` must be a status such as 429, or 5xx.');
  return {
    limit,
    labels,
    ...Object.fromEntries(
      RECORD_DIMENSIONS.flatMap((name) => {
        const wanted = query.all(name);
        return wanted.length === 0 ? [] : [[name, wanted]];
      }),
    ),
    ...(state && { state }),
    ...(cursor !== undefined && { after: readPlace(cursor) }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(minMs !== undefined && { minMs: Number(minMs) }),
    ...(text !== undefined && { text }),
  };
}

function readPlace(text: string): RecordPlace {
  const [, group, at] = /^(running|ended):(\d{1,16}(?:\.\d{1,10})?)$/.exec(text) ?? [];
  if (at === undefined) throw new ApiProblem('invalid_query', '`cursor` is not the `next` of a page.');
  return { running: group === 'running', at: Number(at) };
}

export const explainRequest: Handler = async (call) => {
  const question = questionOf(call);
  const { of, body, key = '', settings = {} } = question;
  if (of !== undefined && !call.identity.content && Object.values(settings).some(comparesTexts))
    throw new ApiProblem('forbidden', 'A condition on texts of a kept request takes the right `content`.');
  const outcome = await call.explains!.explain(question);
  if (of !== undefined) return shownToReader(outcome, { ...call, id: of });
  // The texts of any other question are those of its caller.
  return continuesEarlier(parseJson(body))
    ? shownToReader(outcome, { ...call, id: `requests of ${key}` })
    : shown(outcome, call);
};

/** Throws `invalid_json` for a body that is no object, else `invalid_body`. */
function questionOf({ bytes, limits, explain }: Call): QuestionBody {
  if (!explain) throw new ApiProblem('cannot_explain', 'This build has no add-on explain.');
  try {
    return explain.readQuestion(bytes, limits);
  } catch (error) {
    if (!(error instanceof BadQuestion)) throw error;
    parseCallBody(bytes);
    throw invalidBody([{ pointer: '', message: error.message }]);
  }
}

export const explainedRequest: Handler = async (call) => {
  const { id, explains } = call;
  checkContent(call);
  const outcome = await explains?.explained(id);
  if (!outcome)
    throw new ApiProblem(
      'not_found',
      'No request is kept under this id. Use the id in `x-gateway-explain-id`, not the request id. Each process keeps its latest 100 requests ' +
        'until it ends, if `reply_headers` or `admin.explain` enables it.',
    );
  return shownToReader(outcome, call);
};

export const wantsTexts = ({ query }: Call): boolean => query.one('texts') === 'true';

export function checkContent(call: Call): void {
  if (wantsTexts(call) && !call.identity.content)
    throw new ApiProblem('forbidden', 'Texts of requests take the right `content`: of `admin.content`, or of a token.');
}

/** The explanation of a kept request: without its texts, or with a row in the audit. */
async function shownToReader(outcome: ExplainOutcome, call: Call): Promise<CallAnswer> {
  checkContent(call);
  if (outcome.refused || !call.explain) return shown(outcome, call);
  if (!wantsTexts(call)) return shown({ explanation: await call.explain.withoutTexts(outcome.explanation) }, call);
  await auditRead(call);
  return shown(outcome, call);
}

/** The audit has each read of the texts of a request. Rejects with `StateFailure` while the store does not answer. */
export async function auditRead(call: Pick<Call, 'id' | 'query' | 'identity' | 'readObjects'>): Promise<void> {
  const objects = await call.readObjects();
  if (!objects.isStateful) return;
  const reason = call.query.one('reason');
  await objects.store.audit.add(
    { action: 'read', kind: 'requests', id: call.id.slice(0, 256), ...(reason !== undefined && { reason }) },
    actorOf(call),
  );
}

async function shown({ explanation, refused }: ExplainOutcome, { accept, explain }: Call): Promise<CallAnswer> {
  if (refused) throw new ApiProblem(refused.code, refused.message);
  return wantsText(accept) && explain ? { text: await explain.textOf(explanation) } : { body: explanation };
}

/** A client that accepts text/plain and not JSON gets text. */
export const wantsText = (accept = ''): boolean => /\btext\/plain\b/i.test(accept) && !/\bjson\b/i.test(accept);
