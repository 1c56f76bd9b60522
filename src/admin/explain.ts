import type { IncomingMessage } from 'node:http';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { failure, methodNotAllowed, notFound, type AdminAnswer } from './answer.ts';
import { CLOSE, readBody } from './read-body.ts';
import { BadQuestion, readQuestion } from '../dry-run/explain/question.ts';
import type { ExplainOutcome, ExplainSource } from '../dry-run/explain/explain-service.ts';

export const EXPLAIN = '/admin/v1/explain';

/**
 * The number of explain requests that may be read, waiting or running; each has a body in memory. They run one by one
 * and use the time of served requests. They come from a few people, not from machines.
 */
const MAX_QUESTIONS = 4;

const LATER = { 'retry-after': '1' };

/** The same limit as for kept requests: the serving process explains every field. */
const MAX_QUESTION_BYTES = 1024 * 1024;

type Limits = ServerSettings['limits'];

/** Called before the body of a kept request is shown. */
type OnRead = (id: string) => Promise<void>;

/** `POST /admin/v1/explain` and `GET /admin/v1/explain/ID`. */
export function createExplainAnswers(source: ExplainSource, limits: () => Limits) {
  let questions = 0;
  return async (request: IncomingMessage, id: string, onRead: OnRead): Promise<AdminAnswer> => {
    const refused = refusal(request, id);
    if (refused) return refused;
    if (questions >= MAX_QUESTIONS)
      return failure(503, 'busy', `${MAX_QUESTIONS} explain requests are running already.`, LATER);
    questions += 1;
    try {
      return id === '' ? await explain(request, source, limits()) : await explained(request, source, { id, onRead });
    } finally {
      questions -= 1;
    }
  };
}

function refusal(request: IncomingMessage, id: string): AdminAnswer | undefined {
  const { method, headers } = request;
  if (id !== '') return method === 'GET' || method === 'HEAD' ? undefined : methodNotAllowed('GET, HEAD');
  if (method !== 'POST') return methodNotAllowed('POST');
  // A browser page can send a form anywhere, but JSON only after a preflight request (Fetch, section 3.3.1).
  if (/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return undefined;
  return failure(415, 'unsupported_media_type', 'Content-Type must be application/json.');
}

async function explain(request: IncomingMessage, source: ExplainSource, limits: Limits): Promise<AdminAnswer> {
  const limit = Math.min(limits.body, MAX_QUESTION_BYTES);
  const bytes = await readBody(request, limit);
  if (!bytes) {
    const message = `The explain request exceeds ${limit} bytes${limit < MAX_QUESTION_BYTES ? ' (limits.body)' : ''}.`;
    return failure(413, 'request_too_large', message, CLOSE);
  }
  try {
    return await answerOf(await source.explain(readQuestion(bytes, limits)), request);
  } catch (error) {
    if (error instanceof BadQuestion) return failure(400, 'invalid_question', error.message);
    throw error;
  }
}

async function explained(
  request: IncomingMessage,
  source: ExplainSource,
  { id, onRead }: { readonly id: string; readonly onRead: OnRead },
): Promise<AdminAnswer> {
  const outcome = await source.explained(id);
  if (outcome && !outcome.refused) await onRead(id);
  if (outcome) return answerOf(outcome, request);
  return notFound(
    'No request is kept under this id. Use the id in `x-gateway-explain-id`, not the request id. Each process keeps its latest 100 requests ' +
      'until it ends, if `reply_headers` or `admin.explain` enables it.',
  );
}

async function answerOf({ explanation, refused }: ExplainOutcome, { headers }: IncomingMessage): Promise<AdminAnswer> {
  if (refused)
    return failure(refused.status, refused.code, refused.message, refused.status === 503 ? LATER : undefined);
  if (!wantsText(headers.accept)) return { status: 200, body: explanation };
  const { explanationText } = await import('../dry-run/explain/explanation-text.ts');
  return { status: 200, body: explanationText(explanation) };
}

/** A client that accepts text/plain and not JSON gets text. */
const wantsText = (accept = ''): boolean => /\btext\/plain\b/i.test(accept) && !/\bjson\b/i.test(accept);
